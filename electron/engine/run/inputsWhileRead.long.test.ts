import { appendFile, mkdir, open, readdir, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import { RESULT_FILES } from '../../contract/results.ts';
import { readTables, temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import type { OpenRun } from './openRun.ts';
import { A100_AND_TURING } from '../devices/testing/probeExamples.ts';
import { makeRun, openSequences, predict } from './testing/realRuns.ts';
import { cardsFile, ROOMY } from './testing/simulatedCards.ts';

/** Longer than a block of input, and without a chunk to compute. */
const FILLER = `>filler\n${'TAATTAATTAACTAGCTAG'.repeat(60_000)}\n`;
const BEGIN = openSequences(60, 1) + FILLER;
const INPUT = BEGIN + openSequences(20, 2);
const OTHER_END = openSequences(20, 3);

async function inputFile(name: string, text: string): Promise<string> {
  const input = join(temporaryFolder(), name);
  await writeFile(input, text);
  return input;
}

async function overwrite(input: string): Promise<void> {
  const file = await open(input, 'r+');
  await file.write(OTHER_END, BEGIN.length);
  await file.close();
}

async function replace(input: string): Promise<void> {
  await writeFile(`${input}.new`, BEGIN + OTHER_END);
  await rename(`${input}.new`, input);
}

const SMALL_PARTS = { order: 'sample', residuesPerPart: 2_000 } as const;
const PARTS_BEFORE = 3;

interface Changed {
  run: OpenRun;
  /** Lets the workers go on, which hold parts of the beginning. */
  release: () => Promise<void>;
}

/** Changes the first input when some parts of its beginning are computed, and its end is not read. */
async function changedWhileRead(
  inputs: [string, ...string[]],
  change: (input: string) => Promise<void>,
): Promise<Changed> {
  const folder = temporaryFolder();
  const [goOn, permits] = [join(folder, 'go on'), join(folder, 'permits')];
  await mkdir(permits);
  for (let part = 0; part < PARTS_BEFORE; part++) await writeFile(join(permits, String(part)), '');
  // Processors compute only the first round while files are read.
  const gpus = cardsFile(A100_AND_TURING, ROOMY);
  const context = testContext({ fault: `instant,gpus:${gpus},permitted:${permits},slow_reading:${goOn}` });
  const run = await makeRun(context, { ...SMALL_PARTS, inputs, devices: '0' });
  unwrap(await run.start());
  await expect
    .poll(() => run.progress().parts, { timeout: 60_000 })
    .toMatchObject({ done: PARTS_BEFORE, inWork: 2 });
  expect(run.record.stored.prepared).toBeNull();
  await change(inputs[0]);
  await writeFile(goOn, '');
  return { run, release: () => rm(permits, { recursive: true }) };
}

const undisturbed = (input: string) =>
  predict(testContext({ fault: 'instant' }), { ...SMALL_PARTS, inputs: [input] });

describe.skipIf(WITHOUT_PYTHON)('an input that changes while a growing sample of it is computed', () => {
  it.each([
    ['is overwritten', overwrite],
    ['grows', (input: string) => appendFile(input, OTHER_END)],
    ['is cut short', (input: string) => truncate(input, BEGIN.length)],
  ])('pauses the run if it %s, until the file is restored', async (_, change) => {
    const input = await inputFile('changing.fa', INPUT);
    const { run, release } = await changedWhileRead([input], change);
    expect(await run.whenIdle()).toMatchObject({ phase: 'paused', error: { code: 'input_changed' } });
    const written: readonly string[] = await readdir(run.folder);
    expect(written.filter((name) => Object.values<string>(RESULT_FILES).includes(name))).toEqual([]);
    await release();
    // Nothing is left that could be exported.
    expect((await run.record.store.counts()).parts).toMatchObject({ pending: 0, assigned: 0, done: 0 });
    await writeFile(input, INPUT);
    unwrap(await run.start());
    expect(await run.whenIdle()).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    await run.close();
    expect(await readTables(run.folder)).toEqual((await undisturbed(input)).tables);
  });

  it('is read to its end as it was if another file takes its place', async () => {
    const input = await inputFile('changing.fa', INPUT);
    const { run, release } = await changedWhileRead([input], replace);
    await release();
    expect(await run.whenIdle()).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    // The sequences of viruses are taken from the input, which is another now.
    expect(await readdir(run.folder)).not.toContain(RESULT_FILES.viralSequences);
    await writeFile(input, INPUT);
    unwrap(await run.writeResultsAgain());
    await run.close();
    expect(await readTables(run.folder)).toEqual((await undisturbed(input)).tables);
  });

  it('is left out if there are others, with all that was computed of it', async () => {
    const input = await inputFile('changing.fa', INPUT);
    const other = await inputFile('other.fa', openSequences(40, 5));
    const { run, release } = await changedWhileRead([input, other], overwrite);
    // Until here the workers hold parts of the first reading.
    await expect.poll(() => run.record.stored.prepared, { timeout: 60_000 }).not.toBeNull();
    await release();
    const end = { phase: 'done', failedParts: 0, failedRecords: 0, failedInputs: 1 };
    expect(await run.whenIdle()).toEqual(end);
    await run.close();
    const tables = await readTables(run.folder);
    expect(tables[RESULT_FILES.failedFiles]).toMatch(/changing\.fa\|reading\|input_changed: /);
    const { tables: alone } = await undisturbed(other);
    for (const name of [RESULT_FILES.originalFrames, RESULT_FILES.sequences, RESULT_FILES.viralSequences])
      expect(tables[name]).toEqual(alone[name]);
  });
});
