import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AppFailure } from '../../contract/errors.ts';
import { openRunStore } from './runStore.ts';
import { migrate } from './sqlite/database.ts';
import { RUN_DATABASE } from './sqlite/runSchema.ts';
import { asVersion, HOSTILE_CASES, makeOutside, pictureOf } from './testing/hostileFolders.ts';
import {
  compute,
  computeAll,
  HOST_ENTRY,
  newFolder,
  preparedRun,
  removeFolders,
} from './testing/storeFixture.ts';
import { recordOf } from './testing/syntheticRun.ts';

/** A case that takes longer is one that hangs. */
const HANGS_MS = 60_000;
const INPUTS = [
  [recordOf('a', [1, 2, 3]), recordOf('b', [63])],
  [recordOf('c', [4]), recordOf('d', [7, 8])],
];
const CHILD = join(import.meta.dirname, 'testing', 'hostileChild.ts');

let paused = '';
let finished = '';

beforeAll(async () => {
  for (const whole of [false, true]) {
    const run = await preparedRun(INPUTS, 2);
    mkdirSync(join(run.folder, 'logs'));
    for (const name of ['run.log', 'prepare.log']) writeFileSync(join(run.folder, 'logs', name), 'a line\n');
    if (whole) {
      await computeAll(run);
      await run.store.writeTables();
      await run.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
      for (const name of ['run.json', 'viral_sequences.fna']) writeFileSync(join(run.folder, name), '{}');
      finished = run.folder;
    } else {
      await compute(run, '000000');
      await run.store.setState({ phase: 'paused', error: null });
      paused = run.folder;
    }
    await run.store.close();
  }
});
afterAll(removeFolders);

/** One process for many folders, one after the other; started again after one that hung. */
class Attempts {
  #child: ChildProcess | null = null;
  #answers: AsyncIterator<string> | null = null;

  async codes(folder: string): Promise<unknown> {
    const child = (this.#child ??= spawn(process.execPath, [CHILD], { stdio: ['pipe', 'pipe', 'inherit'] }));
    this.#answers ??= createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    child.stdin!.write(`${folder}\n`);
    const limit = setTimeout(() => {
      this.end();
    }, HANGS_MS);
    const answer = await this.#answers.next();
    clearTimeout(limit);
    return answer.done ? 'it hangs' : JSON.parse(answer.value);
  }

  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = null;
    this.#answers = null;
  }
}

describe.skipIf(process.platform === 'win32')('a run folder from somebody else', () => {
  it('comes in at least 40 kinds', () => {
    expect(HOSTILE_CASES.length).toBeGreaterThan(40);
  });

  describe.each(['paused', 'finished'] as const)('that holds a %s run', (kind) => {
    const attempts = new Attempts();
    afterAll(() => {
      attempts.end();
    });

    it.each(HOSTILE_CASES)('$name', async ({ make, resumed, lookedAt }) => {
      const parent = newFolder();
      const [folder, outside] = [join(parent, 'run'), join(parent, 'outside')];
      cpSync(kind === 'paused' ? paused : finished, folder, { recursive: true });
      makeOutside(outside);
      make(folder, outside);
      const before = pictureOf(outside);
      const codes = await attempts.codes(folder);
      expect(pictureOf(outside)).toEqual(before);
      expect(codes).toEqual([lookedAt, resumed]);
      rmSync(parent, { recursive: true });
    });
  });
});

describe.each([1, 2] as const)('a run folder of version %i', (version) => {
  const older = (): string => {
    const folder = join(newFolder(), 'run');
    cpSync(paused, folder, { recursive: true });
    asVersion(folder, version, (db) => {
      migrate(db, { ...RUN_DATABASE, migrations: RUN_DATABASE.migrations.slice(0, version) });
    });
    return folder;
  };

  it('is read as it is, and its parts are found once it is written to', async () => {
    const folder = older();
    const reader = await openRunStore(folder, { hostEntry: HOST_ENTRY, readOnly: true });
    expect((await reader.loadRun()).counts.parts).toMatchObject({ done: 1 });
    await reader.close();
    expect(readdirSync(join(folder, 'work'))).toContain('shards');

    const store = await openRunStore(folder, { hostEntry: HOST_ENTRY });
    expect(await store.verifyPendingParts()).toEqual([]);
    expect((await store.pendingParts()).length).toBeGreaterThan(0);
    await store.close();
    expect(readdirSync(join(folder, 'work'))).toContain('parts');
    expect(existsSync(join(folder, 'work', 'shards'))).toBe(false);
  });

  it.skipIf(process.platform === 'win32')('does not have the parts of another folder renamed', async () => {
    const folder = older();
    const outside = newFolder();
    makeOutside(outside);
    rmSync(join(folder, 'work'), { recursive: true });
    symlinkSync(outside, join(folder, 'work'));
    const before = pictureOf(outside);
    const refusal: unknown = await openRunStore(folder, { hostEntry: HOST_ENTRY }).catch(
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(AppFailure);
    expect((refusal as AppFailure).error.code).toBe('folder_unsafe');
    expect(pictureOf(outside)).toEqual(before);
  });
});
