import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOSTILE_CASES, makeOutside, pictureOf } from './testing/hostileFolders.ts';
import { compute, computeAll, preparedRun } from './testing/storeFixture.ts';
import { recordOf } from './testing/syntheticRun.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

/** A case that takes longer than this hangs. */
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
/** One process handles many folders in turn; it is restarted after one that hung. */
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
  it('has at least 40 cases', () => {
    expect(HOSTILE_CASES.length).toBeGreaterThan(40);
  });

  describe.each(['paused', 'finished'] as const)('holding a %s run', (kind) => {
    const attempts = new Attempts();
    afterAll(() => {
      attempts.end();
    });

    it.each(HOSTILE_CASES)('$name', async ({ make, resumed, lookedAt }) => {
      const parent = temporaryFolder();
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
