import { call, type AnyProcedure } from '@orpc/server';
import type { AnyContractProcedure } from '@orpc/contract';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { contract } from '../contract/index.ts';
import { LIMITS } from '../contract/limits.ts';
import { rootPolicy } from './requestGuard.ts';
import { engineBase } from '../engine/run/engineContext.ts';
import { randomNumbers } from '../engine/testing/randomNumbers.ts';
import { temporaryFolder, testContext } from '../engine/testing/testContext.ts';
import { openService, serviceRouter, type Service } from '../engine/index.ts';
import { libraryOfRuns } from '../engine/service/testing/manyRuns.ts';

/**
 * The longest that a call may block the event loop, as a multiple of the time that checking the largest list
 * takes just then: on a busy computer neither the clock nor the thread's processor time is meaningful by
 * itself.
 */
const MOST_UNITS = 20;
const CASES_PER_CALL = 12;

let service: Service;
let root: string;
let runId: string;

beforeAll(async () => {
  const { paths, storeHost } = testContext();
  const folder = temporaryFolder();
  const dataDir = join(folder, 'data');
  const runs = await libraryOfRuns({ dataDir, storeHost }, 300);
  runId = runs[0]?.runId ?? '';
  root = join(folder, 'root');
  await mkdir(root);
  for (let file = 0; file < 3000; file++) await writeFile(join(root, `${file}.fa`), '>a\nACGT\n');
  await symlink('/', join(root, 'everything'));
  const base = engineBase({ appVersion: 'test', paths: { ...paths, dataDir }, storeHost });
  // Runs without Python, because only this process is measured.
  service = await openService(base, {
    interpreter: join(folder, 'none'),
    resultsFolder: join(root, 'results'),
  });
});
afterAll(() => service.close());

function deep(levels: number): unknown {
  let value: unknown = {};
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { inputs: value };
  return value;
}

/** Hostile replacements for a value: long, deep, many, of a wrong type, and as large as allowed. */
function hostileValues(): (() => unknown)[] {
  const longestPath = `${root}${'/a'.repeat((LIMITS.path - root.length) / 2)}`;
  const many = (length: number, of: (index: number) => unknown) => () =>
    Array.from({ length }, (_, i) => of(i));
  return [
    () => '/a'.repeat(200_000),
    () => 'x'.repeat(8_000_000),
    () => '\u{1F9EC}'.repeat(500_000),
    () => longestPath,
    () => `${root}/everything${'/..'.repeat(1300)}`,
    () => `${root}/\0`,
    () => root,
    () => join(root, 'everything'),
    () => [root],
    many(100_000, (index) => `/a/${index}`),
    many(1_000_000, () => ''),
    many(LIMITS.inputs, (index) => join(root, `${index % 3000}.fa`)),
    many(LIMITS.inputs, (index) => `/missing/${index}/a/b/c`),
    many(2_000, () => longestPath),
    many(LIMITS.rows, (index) => index),
    many(LIMITS.rows, (index) => String(index).padStart(6, '0')),
    () => deep(5_000),
    () => Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`key${index}`, index])),
    () => Number.MAX_SAFE_INTEGER,
    () => -1,
    () => Number.NaN,
    () => null,
    () => true,
    () => ({ __proto__: null, constructor: 1, length: 1e9 }),
  ];
}

/** A value that matches the schema, if one is easy to construct. */
function fitting(schema: z.ZodType, key: string): unknown {
  if (key === 'runId') return runId;
  const words = ['all', 'teaching', 'tsv', 'inputs', 'keep'];
  const values = [[root], root, 1, true, [], ...words, { by: 'row', descending: true }];
  return values.find((value) => schema.safeParse(value).success);
}

interface Sent {
  /** The call, and which of its values is hostile. */
  name: string;
  procedure: AnyProcedure;
  input: unknown;
}

function* hostileCalls(): Generator<Sent> {
  const random = randomNumbers(1);
  const values = hostileValues();
  const router = serviceRouter(service) as unknown as Record<string, Record<string, AnyProcedure>>;
  for (const [area, calls] of Object.entries(contract)) {
    for (const [name, procedure] of Object.entries(calls)) {
      const schema = (procedure as AnyContractProcedure)['~orpc'].inputSchema as z.ZodType | undefined;
      const called = router[area]?.[name];
      if (!schema || !called) continue;
      const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
      const keys = Object.keys(shape);
      for (let number = 0; number < CASES_PER_CALL; number++) {
        const chosen = Math.floor(random() * values.length);
        const hostile = values[chosen]?.();
        const at = keys[number % Math.max(1, keys.length)];
        const input: Record<string, unknown> = {};
        for (const [key, one] of Object.entries(shape)) input[key] = key === at ? hostile : fitting(one, key);
        // In some calls the request is one level deeper.
        if (at === 'request' && number % 2 === 0) input['request'] = { inputs: hostile, model: 'teaching' };
        const isAll = number === CASES_PER_CALL - 1;
        yield {
          name: `${area}.${name}, ${isAll ? 'all' : at}: hostile value ${chosen}`,
          procedure: called,
          input: isAll ? hostile : input,
        };
      }
    }
  }
}

/** The longest time for which the thread blocked during the work. */
async function longestPause(work: () => Promise<unknown>): Promise<number> {
  const used = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let last = used();
  let longest = 0;
  const look = (): void => {
    const now = used();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  await work();
  clearInterval(timer);
  look();
  return longest;
}

it('never blocks for long, whatever a window sends', async () => {
  const paths = await rootPolicy(root);
  const downloads = {
    place: (name: string) => Promise.resolve(join(root, name)),
    offer: () => '',
    lend: () => '',
  };
  const context = { window: { shell: 'browser' as const, paths, downloads, sameComputer: true } };
  const pauses: { name: string; pause: number }[] = [];
  const largest = Array.from({ length: 1_000_000 }, () => '');
  const unit = await longestPause(() => Promise.resolve(z.array(z.string()).parse(largest)));
  for (const { name, procedure, input } of hostileCalls()) {
    const pause = await longestPause(async () => {
      const abort = new AbortController();
      try {
        const answer: unknown = await call(procedure, input, { context, signal: abort.signal });
        if (typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer) {
          const events = (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]();
          await events.next();
          await events.return?.();
        }
      } catch {
        // A refusal, and a failure for lack of Python, are both answers.
      }
      abort.abort();
    });
    pauses.push({ name, pause: pause / unit });
  }
  expect(pauses.length).toBeGreaterThan(30 * CASES_PER_CALL);
  expect(pauses.filter(({ pause }) => pause >= MOST_UNITS)).toEqual([]);
  expect(await call(serviceRouter(service).computer.settings, undefined, { context })).toMatchObject({
    theme: 'system',
  });
});
