import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { SHORTLIST_FILE } from '../../../contract/folderNames.ts';
import { RESULT_FILES } from '../../../contract/results.ts';
import { runRequestSchema } from '../../../contract/rpc/runs.ts';
import { randomNumbers } from '../../testing/randomNumbers.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
import { markSequence } from '../shortlist.ts';
import { compute, preparedRun, type AnyStore, type PreparedRun } from './storeFixture.ts';
import { recordOf, syntheticPlan, type SyntheticPrepare } from './syntheticRun.ts';

/** Contents by the path within a folder. */
export type Files = ReadonlyMap<string, Buffer>;

/** All files below a folder, sorted by their paths. */
export function filesOf(folder: string): Files {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return new Map(
    found
      .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
      .sort()
      .map((name) => [name, readFileSync(join(folder, name))]),
  );
}

export function writeFiles(folder: string, files: Files): void {
  for (const [name, bytes] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
}

/** A whole run. */
export interface Sample {
  isFinished: boolean;
  files: Files;
  prepared: SyntheticPrepare;
  /** What prepare wrote. */
  work: Files;
}

/** A copy of a run in which one bit differs, until the next one is asked for. */
interface FlippedRun {
  sample: Sample;
  folder: string;
  /** Names the run, file and bit. */
  where: string;
}

/** Half of the runs are finished, and half are half-done; half of the flips are in `mostlyIn`. */
export async function* flippedRuns(
  count: number,
  seed: number,
  mostlyIn: readonly string[],
): AsyncGenerator<FlippedRun> {
  const samples = [await makeRun(true), await makeRun(false)];
  const random = randomNumbers(seed);
  const below = (end: number): number => Math.floor(random() * end);
  for (let i = 0; i < count; i++) {
    const sample = samples[i % 2]!;
    // The user may edit the shortlist by hand, so there is no digest of it.
    const all = [...sample.files.keys()].filter((name) => name !== SHORTLIST_FILE);
    const names = random() < 0.5 ? all : all.filter((name) => mostlyIn.includes(name));
    const file = names[below(names.length)]!;
    const bytes = Buffer.from(sample.files.get(file)!);
    const [byte, bit] = [below(bytes.length), below(8)];
    bytes[byte]! ^= 1 << bit;
    const folder = join(temporaryFolder(), `trial_${i}`);
    writeFiles(folder, sample.files);
    // Hides the time of the change as far as a program can.
    const { atime, mtime } = statSync(join(folder, file));
    writeFileSync(join(folder, file), bytes);
    utimesSync(join(folder, file), atime, mtime);
    const state = sample.isFinished ? 'finished' : 'paused';
    yield { sample, folder, where: `${state} ${file}, byte ${byte}, bit ${bit}` };
    rmSync(folder, { recursive: true });
  }
}

const MASKS = [1, 2, 9, 16, 33, 24, 4, 63];
const INPUTS = ['a', 'b'].map((name) => [
  ...Array.from({ length: 24 }, (_, i) =>
    recordOf(
      `${name}_${i} of sample A`,
      [1, 3, 5].map((step) => MASKS[(step * i) % 8]!),
    ),
  ),
  { header: `empty_${name}`, length: 0, openFrames: [], fault: 'empty' as const },
]);

async function makeRun(isFinished: boolean): Promise<Sample> {
  const inputs = syntheticPlan(INPUTS.length).inputs.map(({ path }) => path);
  const options = { request: runRequestSchema.parse({ inputs }) };
  const sizes = { framesPerPart: 24, recordsPerFile: 16 };
  const run = await preparedRun(INPUTS, sizes, {}, { runId: randomUUID(), options });
  const { store, folder, prepared } = run;
  const work = new Map([...filesOf(folder)].filter(([name]) => name.startsWith('work')));
  const keys = (await store.pendingParts()).map(({ key }) => key);
  for (const key of isFinished ? keys : keys.slice(0, keys.length / 2)) await settle(run, key);
  const written: Record<string, string> = { 'logs/run.log': 'a line\n'.repeat(20) };
  if (isFinished) {
    const { files, counts } = await store.writeTables();
    const virus = { filter: { predictions: ['virus' as const] } };
    const { items } = await store.findSequences(virus, { by: 'row', descending: false }, 0, 1000);
    const others = {
      [RESULT_FILES.viralSequences]: items.map(({ header }) => `>${header}\nACGT\n`).join(''),
      [RESULT_FILES.run]: `{"run": "${folder}"}\n`,
    };
    Object.assign(written, others);
    for (const [name, text] of Object.entries(others))
      files[name] = {
        bytes: Buffer.byteLength(text),
        sha256: createHash('sha256').update(text).digest('hex'),
      };
    await store.saveResultFiles(files);
    await store.setState({ phase: 'done', failedParts: 1, failedRecords: counts.byPrediction.failed });
  } else await store.setState({ phase: 'paused', error: null });
  await store.close();
  writeFiles(folder, new Map(Object.entries(written).map(([name, text]) => [name, Buffer.from(text)])));
  markSequence(folder, { row: 3, seqName: 'a_3' }, true);
  return { isFinished, files: filesOf(folder), prepared, work };
}

/** Computes a part. The first one fails, so that the lists of failures have content too. */
export async function settle(run: PreparedRun<AnyStore>, key: string): Promise<void> {
  if (key === '000000') await run.store.failPart(key, { code: 'out_of_memory', message: 'Too large.' });
  else await compute(run, key);
}
