import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createHash, randomUUID } from 'node:crypto';
import { createRouterClient } from '@orpc/server';
import { runRequestSchema } from '../../../contract/rpc/runs.ts';
import { AppFailure, appFailure } from '../../../contract/errors.ts';
import { RUN_DATABASE, SHORTLIST_FILE } from '../../../contract/folderNames.ts';
import { RESULT_FILES } from '../../../contract/results.ts';
import { compareRuns } from '../../exports/compare/compareRuns.ts';
import { exportResults } from '../../exports/exportResults.ts';
import { CheckedRuns } from '../../store/checkedRuns.ts';
import { openRunStore, type RunStore } from '../../store/runStore.ts';
import { markSequence } from '../../store/shortlist.ts';
import { compute, computeAll, HOST_ENTRY, reportPrepare } from '../../store/testing/storeFixture.ts';
import { filesOf, writeFiles, type Files } from '../../store/testing/folderFiles.ts';
import { DESCRIPTION, recordOf, syntheticPlan, writePrepared } from '../../store/testing/syntheticRun.ts';
import { randomNumbers } from '../../testing/randomNumbers.ts';
import { serviceRouter } from '../router/index.ts';
import type { Service } from '../service.ts';
import type { WindowContext } from '../window/windowContext.ts';

/** What the readers of a run answer after one bit of it was flipped. */
export interface ReaderFlips {
  tried: number;
  /** Flips after which at least one reader refused in words. */
  refused: number;
  /** Flips after which all readers gave the answers of the whole run. */
  same: number;
  /** Readers that gave another answer without a word, or failed without one, named by file, byte and bit. */
  other: string[];
}

/** An answer as text, by reader; a refusal is null. */
type Answers = Record<string, string | null>;

const EXPORTS = ['tsv', 'csv', 'parquet', 'fasta', 'gff3', 'bed', 'multiqc', 'report']; // prettier-ignore
/** Half of the flips are in these. */
const ANSWERING: readonly string[] = [RUN_DATABASE, RESULT_FILES.results, RESULT_FILES.chunks];
const ALL = { filter: {} };
const BY_ROW = { by: 'row', descending: false } as const;
const QUERIES = ['sequences', 'chunks'];

/** Flips `count` bits, each in an otherwise whole run: half of them finished, half half-done. */
export async function tryReaderFlips(
  { service, folder }: { service: Service; folder: string },
  { count, seed }: { count: number; seed: number },
): Promise<ReaderFlips> {
  const finished = await makeRun(true);
  const halfDone = await makeRun(false);
  const whole = new Map<Files, Answers>();
  const found: ReaderFlips = { tried: 0, refused: 0, same: 0, other: [] };
  const random = randomNumbers(seed);
  const ask = (trial: string, sample: Files): Promise<Answers> =>
    answersOf(service, trial, sample === finished);
  for (const [i, sample] of [finished, halfDone].entries()) {
    const trial = join(folder, `whole_${i}`);
    writeFiles(trial, sample);
    whole.set(sample, await ask(trial, sample));
    const refused = Object.entries(whole.get(sample) ?? {}).filter(([, answer]) => answer === null);
    if (refused.length > 0)
      throw new Error(`The whole run does not answer: ${refused.map(([name]) => name).join()}`);
  }
  for (let i = 0; i < count; i++) {
    const sample = i % 2 === 0 ? finished : halfDone;
    // The user may edit the shortlist by hand, so there is no digest of it.
    const all = [...sample.keys()].filter((name) => name !== SHORTLIST_FILE);
    const names = random() < 0.5 ? all : all.filter((name) => ANSWERING.includes(name));
    const file = names[Math.floor(random() * names.length)] ?? '';
    const bytes = Buffer.from(sample.get(file) ?? '');
    const byte = Math.floor(random() * bytes.length);
    const bit = Math.floor(random() * 8);
    bytes[byte] = (bytes[byte] ?? 0) ^ (1 << bit);
    const trial = join(folder, `trial_${i}`);
    writeFiles(trial, sample);
    flipBelow(join(trial, file), bytes);
    const answers = await ask(trial, sample);
    const differing = Object.entries(whole.get(sample) ?? {}).filter(
      ([name, answer]) => (answers[name] ?? answer) !== answer,
    );
    found.tried += 1;
    for (const [name] of differing)
      found.other.push(
        `${relative(folder, trial)} ${file}, byte ${byte}, bit ${bit}: ${name} ${answers[name]?.slice(0, 60)}`,
      );
    if (Object.values(answers).includes(null)) found.refused += 1;
    else if (differing.length === 0) found.same += 1;
    rmSync(trial, { recursive: true, force: true });
  }
  return found;
}

/** Changes a file's bytes, and hides the time of the change as far as a program can. */
function flipBelow(path: string, bytes: Buffer): void {
  const { atime, mtime } = statSync(path);
  writeFileSync(path, bytes);
  utimesSync(path, atime, mtime);
}

async function makeRun(isFinished: boolean): Promise<Files> {
  const masks = [1, 2, 9, 16, 33, 24, 4, 63];
  const record = (name: string, i: number) =>
    recordOf(
      `${name}_${i} of sample A`,
      [1, 3, 5].map((step) => masks[(step * i) % 8] ?? 1),
    );
  const inputs = ['a', 'b'].map((name) => [
    ...Array.from({ length: 24 }, (_, i) => record(name, i)),
    { header: `empty_${name}`, length: 0, openFrames: [], fault: 'empty' as const },
  ]);
  const made = await mkdtemp(join(tmpdir(), 'virnucpro-flips-'));
  const plan = syntheticPlan(inputs.length);
  const options = { request: runRequestSchema.parse({ inputs: plan.inputs.map(({ path }) => path) }) };
  const prepared = writePrepared(made, inputs, { framesPerPart: 24, recordsPerFile: 16 });
  const store = await openRunStore(made, {
    hostEntry: HOST_ENTRY,
    create: { plan, description: { ...DESCRIPTION, runId: randomUUID(), options } },
  });
  await reportPrepare(store, prepared);
  const run = { folder: made, prepared, store };
  if (isFinished) {
    await computeAll(run);
    const { files } = await run.store.writeTables();
    const stored = await run.store.loadRun();
    const { items } = await run.store.findSequences({ filter: { predictions: ['virus'] } }, BY_ROW, 0, 1000);
    const others = {
      [RESULT_FILES.viralSequences]: items.map(({ header }) => `>${header}\nACGT\n`).join(''),
      [RESULT_FILES.run]: `{"run": "${stored.description.runId}"}\n`,
    };
    for (const [name, text] of Object.entries(others)) {
      writeFileSync(join(run.folder, name), text);
      files[name] = { bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') };
    }
    await run.store.saveResultFiles(files);
    await run.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
  } else {
    const pending = await run.store.pendingParts();
    for (const { key } of pending.slice(0, pending.length / 2)) await compute(run, key);
    await run.store.setState({ phase: 'paused', error: null });
  }
  await run.store.close();
  markSequence(run.folder, { row: 3, seqName: 'a_3' }, true);
  // An empty file has no bit to flip.
  const files = new Map([...filesOf(run.folder)].filter(([, bytes]) => bytes.length > 0));
  rmSync(run.folder, { recursive: true, force: true });
  return files;
}

/** All readers of a run, each with a run that it opens itself. */
async function answersOf(service: Service, folder: string, isFinished: boolean): Promise<Answers> {
  const answers: Answers = {};
  const answer = async (name: string, ask: () => Promise<unknown>): Promise<void> => {
    try {
      answers[name] = JSON.stringify(await ask(), (_, value: unknown) =>
        value instanceof Map ? [...value] : value,
      );
    } catch (error) {
      const isInWords = error instanceof AppFailure && error.error.code !== 'internal';
      answers[name] = isInWords || isRefusal(error) ? null : `failed: ${String(error)}`;
    }
  };
  // Its pages are known, so that SQLite does not check them: as after a bit that flips while nobody looks.
  const known = Object.assign(new CheckedRuns(), { knows: () => true });
  let opened: RunStore | undefined;
  await answer('open', async () => {
    opened = await openRunStore(folder, { hostEntry: HOST_ENTRY, readOnly: true, checkedRuns: known });
    return true;
  });
  if (opened) {
    const store = opened;
    for (const table of isFinished ? QUERIES : QUERIES.slice(0, 1))
      await answer(`query ${table}`, async () => {
        const question = {
          sql: `SELECT * FROM ${table} ORDER BY ALL`,
          samples: ['A', 'B'],
          tables: [],
          rows: 1000,
        };
        return (await store.queryResults(question, 60)).rows;
      });
    await answer('results', () => store.findSequences(ALL, { by: 'virusScore', descending: true }, 0, 1000));
    await answer('names', () => store.rowsNamed(['a_3', 'b_5', 'b_23']));
    await answer('frames', () => store.scoredFramesOf(Uint32Array.from({ length: 50 }, (_, row) => row)));
    await answer('share', () => store.shareStrata());
    await answer('compare', () => compareRuns(store, store, () => undefined));
    for (const format of EXPORTS)
      await answer(`export ${format}`, async () => {
        const path = join(dirname(folder), `export.${format}`);
        const selection = format === 'fasta' ? { filter: { predictions: ['virus' as const] } } : ALL;
        if (format === 'fasta' && !isFinished) return 'nothing to take them from';
        await exportResults(store, {
          selection,
          sort: BY_ROW,
          format,
          path,
          language: 'en',
          environment: () => Promise.reject(appFailure('input_not_found', 'Its inputs are elsewhere.')),
        });
        // A report says when it was written.
        return readFileSync(path, 'latin1')
          .replaceAll(folder, '')
          .replaceAll(/\d\d:\d\d/g, '');
      });
    await store.close();
  }
  // These procedures ask nothing of their window.
  const context = { window: {} as WindowContext };
  const client = createRouterClient(serviceRouter(service), { context });
  let runId: string | undefined;
  await answer('window: open', async () => {
    ({ runId } = await service.catalog.add(folder));
    return true;
  });
  if (runId === undefined) return answers;
  const run = { runId };
  await answer('window: page', () => client.results.page(run));
  await answer('window: counts', () => client.results.counts(run));
  await answer('window: histogram', () => client.results.histogram(run));
  await answer('window: plots', () => client.results.lengths(run));
  await answer('window: samples', () => client.results.samples(run));
  await answer('window: shortlist', () => client.results.counts({ ...run, filter: { shortlisted: true } }));
  await answer('window: chunks', async () => {
    const { items } = await client.results.page(run);
    const shown = [];
    for (const { row } of items.filter((_, i) => i % 5 === 0))
      shown.push(await client.results.chunks({ ...run, row }));
    return shown;
  });
  await service.open.closeReader(folder);
  await service.catalog.forget(runId);
  return answers;
}

/** Errors of procedures reach a window as their data. */
function isRefusal(error: unknown): boolean {
  const data = error instanceof Error && 'data' in error ? error.data : null;
  return typeof data === 'object' && data !== null && 'code' in data && data.code !== 'internal';
}
