import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { expect, it } from 'vitest';
import { AppFailure, appFailure } from '../../contract/errors.ts';
import { RUN_DATABASE } from '../../contract/folderNames.ts';
import { RESULT_FILES } from '../../contract/results.ts';
import { compareRuns } from '../exports/compare/compareRuns.ts';
import { exportResults } from '../exports/exportResults.ts';
import { CheckedRuns } from '../store/checkedRuns.ts';
import { openRunStore, type RunStore } from '../store/runStore.ts';
import { flippedRuns, writeFiles, type Sample } from '../store/testing/flips.ts';
import { HOST_ENTRY } from '../store/testing/storeFixture.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';
import { serviceRouter } from './router/index.ts';
import type { Service } from './service.ts';
import { openTestService } from './testing/testService.ts';
import type { WindowContext } from './window/windowContext.ts';

/** For a longer test: VIRNUCPRO_FLIPS=600. */
const FLIPS = Number(process.env['VIRNUCPRO_FLIPS'] ?? 60);
const SEED = Number(process.env['VIRNUCPRO_SEED'] ?? 20_261_128);

/** An answer as text, by reader; a refusal is null. */
type Answers = Record<string, string | null>;

const EXPORTS = ['tsv', 'csv', 'parquet', 'fasta', 'gff3', 'bed', 'multiqc', 'report']; // prettier-ignore
/** The files that answer most questions about a run. */
const ANSWERING = [RUN_DATABASE, RESULT_FILES.results, RESULT_FILES.chunks];
const ALL = { filter: {} };
const QUERIES = ['sequences', 'chunks'];

it('answers from a run with a flipped bit as from the whole run, or refuses in words', async () => {
  const { service } = await openTestService();
  const whole = new Map<Sample, Answers>();
  const differing: string[] = [];
  let refused = 0;
  for await (const { sample, folder, where } of flippedRuns(FLIPS, SEED, ANSWERING)) {
    const wanted = whole.get(sample) ?? (await answersOfWhole(service, sample));
    whole.set(sample, wanted);
    const answers = await answersOf(service, folder, sample.isFinished);
    for (const [name, answer] of Object.entries(wanted))
      if ((answers[name] ?? answer) !== answer)
        differing.push(`${where}: ${name} ${answers[name]?.slice(0, 60)}`);
    if (Object.values(answers).includes(null)) refused += 1;
  }
  await service.close();
  expect(differing).toEqual([]);
  // If fewer were refused, or all, the test itself would be broken.
  expect(refused).toBeGreaterThan(FLIPS / 30);
  expect(FLIPS - refused).toBeGreaterThan(FLIPS / 10);
});

async function answersOfWhole(service: Service, { files, isFinished }: Sample): Promise<Answers> {
  const folder = join(temporaryFolder(), 'whole');
  writeFiles(folder, files);
  const answers = await answersOf(service, folder, isFinished);
  expect(Object.keys(answers).filter((name) => answers[name] === null)).toEqual([]);
  return answers;
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
          sort: { by: 'row', descending: false },
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
