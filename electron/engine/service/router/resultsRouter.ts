import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { usage } from '../../../contract/errors.ts';
import { exportFileName, exportScope, runFileStem } from '../../../contract/exports.ts';
import { LIMITS } from '../../../contract/limits.ts';
import type { DifferingChunk, ExportEvent, SequenceFilter } from '../../../contract/rpc/results.ts';
import { compareWithOriginal } from '../../exports/compare/compareOriginal.ts';
import { ComparisonPages } from '../../exports/compare/listedSequences.ts';
import { isOriginalResult } from '../../exports/compare/originalResults.ts';
import {
  exportResults,
  answerAsTsv,
  queryRun,
  EXPORT_FORMATS,
  formatNamed,
} from '../../exports/exportResults.ts';
import { ExportSource } from '../../exports/exportSource.ts';
import { openFewSequences } from '../../exports/inputSequences.ts';
import { LENGTH_EDGES } from '../../exports/report/reportFacts.ts';
import { samplesFound } from '../../exports/samples.ts';
import {
  selectionOf,
  otherText,
  saidByTool,
  summariseOtherTable,
  addOtherTable,
  callOtherTable,
  MOST_KEPT_BYTES,
  removeOtherTable,
} from '../../exports/otherTools/joinOtherTable.ts';
import { readOtherTable } from '../../exports/otherTools/readOtherTable.ts';
import { lettersOfOne } from '../../exports/sequenceFiles.ts';
import { WholeFile } from '../../exports/wholeFile.ts';
import type { RunStore } from '../../store/runStore.ts';
import { markedRows, markSequence, shortlistOf } from '../../store/shortlist.ts';
import type { SequenceSelection } from '../../store/duckdb/selection.ts';
import { OtherTables } from '../questions/otherTables.ts';
import { callbackStream } from '../changes.ts';
import type { Service } from '../service.ts';
import type { CallContext, DesktopActions } from '../window/windowContext.ts';
import { implement } from '@orpc/server';
import { contract } from '../../../contract/index.ts';

/** A sequence of 100 million bases has as many chunks; the drawer draws no more than this. */
const MOST_CHUNKS = 20_000;

const BY_ROW = { by: 'row', descending: false } as const;

/** The number of chunks with another call that a window lists. */
const MOST_CHANGED = 200;

const noFile = () => usage('The export has no file to go to.', 'Choose one.');
const noPdf = () =>
  usage(
    'Only the desktop app makes a PDF.',
    'Save the report as HTML, open it, and print it to a PDF there.',
  );
const noSuchSequence = () => usage('There is no such sequence in this run.');

/** Prints a temporary page, written only for that, as PDF. */
async function writePdf<Written extends object>(
  writePage: (path: string) => Promise<Written>,
  path: string,
  { pdfOf }: DesktopActions,
): Promise<Written & { bytes: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'virnucpro-report-'));
  try {
    const page = join(folder, 'report.html');
    const written = await writePage(page);
    const bytes = await WholeFile.write(path, async (file) => file.write(await pdfOf(page)));
    return { ...written, bytes };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export function resultsRouter(service: Service) {
  const { catalog, control, known, open } = service;
  const results = implement(contract.results).$context<CallContext>();
  const read = <Answer>(runId: string, ask: Parameters<typeof open.read<Answer>>[1]): Promise<Answer> =>
    open.read(catalog.folder(runId), ask);
  const readBoth = <Answer>(
    { runId, otherRunId }: { runId: string; otherRunId: string },
    ask: (first: RunStore, second: RunStore) => Promise<Answer>,
  ): Promise<Answer> => read(runId, (first) => read(otherRunId, (second) => ask(first, second)));
  const comparisons = new ComparisonPages();
  const otherTables = new OtherTables();
  const select = async (store: RunStore, filter: SequenceFilter): Promise<SequenceSelection> => ({
    ...(filter.other ? selectionOf(filter, await otherTables.of(store)) : { filter }),
    ...markedRows(store.folder, filter),
  });
  return {
    page: results.page.handler(({ input }) =>
      read(input.runId, async (store) => {
        const others = await otherTables.of(store);
        const found = await store.findSequences(
          await select(store, input.filter),
          input.sort,
          input.offset,
          input.limit,
        );
        const ribbons = await store.ribbonsOf(found.items.map(({ row, nChunks }) => ({ row, nChunks })));
        const items = found.items.map((item, i) => ({
          ...item,
          ribbon: ribbons[i] ?? [],
          ...(others.length === 0 ? {} : { others: others.map((joined) => otherText(joined, item.row)) }),
        }));
        return { total: found.total, items };
      }),
    ),
    otherTables: results.otherTables.handler(({ input }) =>
      read(input.runId, async (store) =>
        Promise.all((await otherTables.of(store)).map((joined) => summariseOtherTable(store, joined))),
      ),
    ),
    addOtherTable: results.addOtherTable.handler(async ({ input, context: { window }, signal }) => {
      await known.check([input.path], window.paths);
      if (await isOriginalResult(input.path)) return { isOriginal: true };
      addOtherTable(
        catalog.folder(input.runId),
        await readOtherTable(input.path, { signal, mostBytes: MOST_KEPT_BYTES }),
      );
      return { isOriginal: false };
    }),
    callOtherTable: results.callOtherTable.handler(({ input }) => {
      callOtherTable(catalog.folder(input.runId), input.table, input.rule);
    }),
    removeOtherTable: results.removeOtherTable.handler(({ input }) => {
      removeOtherTable(catalog.folder(input.runId), input.table);
    }),
    counts: results.counts.handler(({ input }) =>
      read(input.runId, async (store) => store.countPredictions(await select(store, input.filter))),
    ),
    histogram: results.histogram.handler(({ input }) =>
      read(input.runId, async (store) => store.scoreBins(await select(store, input.filter), input.bins)),
    ),
    lengths: results.lengths.handler(({ input }) =>
      read(input.runId, async (store) => store.lengthBins(await select(store, input.filter), LENGTH_EDGES)),
    ),
    chunks: results.chunks.handler(({ input }) =>
      read(input.runId, async (store) => {
        const [sequence, page, others] = await Promise.all([
          store.sequence(input.row),
          store.chunksOf(input.row, 0, MOST_CHUNKS),
          otherTables.of(store),
        ]);
        if (!sequence) throw noSuchSequence();
        return {
          sequence,
          chunks: page.chunks,
          others: others.map((joined) => saidByTool(joined, input.row)),
        };
      }),
    ),
    letters: results.letters.handler(({ input, signal }) =>
      read(input.runId, async (store) => {
        const selection = { filter: {}, rows: [input.row] };
        const source = await ExportSource.open(store, selection, BY_ROW, { language: 'en', signal });
        const environment = async () => (await service.pythonEnvironment.context()).environment;
        const sequences = await openFewSequences(source, selection, environment);
        try {
          const { record, protein } = await lettersOfOne(source, sequences);
          return { record: record.length > LIMITS.text ? null : record.toString('utf8'), protein };
        } finally {
          await sequences.close();
        }
      }),
    ),
    shortlisted: results.shortlisted.handler(({ input }) => shortlistOf(catalog.folder(input.runId))),
    shortlist: results.shortlist.handler(({ input: { runId, row, shortlisted } }) =>
      read(runId, async (store) => {
        const sequence = await store.sequence(row);
        if (!sequence) throw noSuchSequence();
        markSequence(store.folder, { row, seqName: sequence.seqName }, shortlisted);
      }),
    ),
    compare: results.compare.handler(({ input }) =>
      readBoth(input, (first, second) => comparisons.compare(first, second)),
    ),
    comparedPage: results.comparedPage.handler(({ input }) =>
      readBoth(input, (first, second) => comparisons.page(first, second, input)),
    ),
    compareOriginal: results.compareOriginal.handler(async ({ input, context: { window }, signal }) => {
      await known.check([input.path], window.paths);
      return read(input.runId, async (store) => {
        const differing: DifferingChunk[] = [];
        const comparison = await compareWithOriginal(
          store,
          input.path,
          (one) => {
            if (differing.length < MOST_CHANGED) differing.push(one);
          },
          signal,
        );
        return { ...comparison, differing };
      });
    }),
    samples: results.samples.handler(({ input }) =>
      read(input.runId, async (store) => samplesFound(store, await store.loadRun())),
    ),
    query: results.query.handler(({ input }) =>
      read(input.runId, async (store) => queryRun(store, input.sql, await otherTables.of(store), input.rows)),
    ),
    saveQuery: results.saveQuery.handler(async ({ input, context: { window } }) => {
      const { name, plan, state } = catalog.find(input.runId);
      const path =
        window.shell === 'browser'
          ? await window.downloads.place(
              `${runFileStem({ runName: name, model: plan.model, state })}_query.tsv`,
            )
          : input.path;
      if (path === undefined) throw noFile();
      if (window.shell !== 'browser') await known.check([path], window.paths);
      const answer = await read(input.runId, async (store) =>
        queryRun(store, input.sql, await otherTables.of(store)),
      );
      const bytes = await WholeFile.write(path, (file) => file.write(answerAsTsv(answer)));
      const downloadPath = window.shell === 'browser' ? window.downloads.offer(path) : null;
      return { path, downloadPath, rows: answer.rows.length, bytes, isCut: answer.isCut };
    }),
    setSamples: results.setSamples.handler(({ input }) =>
      control.withSession(input.runId, (run) => run.record.setSamples(input.names, input.details)),
    ),
    exportFormats: results.exportFormats.handler(() => [...EXPORT_FORMATS]),
    export: results.export.handler(async ({ input, context: { window }, signal: outer }) => {
      const { name, plan, state } = catalog.find(input.runId);
      const selected = async (store: RunStore) => ({
        ...(await select(store, input.filter)),
        rows: input.rows,
      });
      const path = await exportPath();
      const { isPdf } = input;
      if (isPdf && (window.shell !== 'electron' || input.format !== 'report')) throw noPdf();
      return callbackStream<ExportEvent>(async (tell, signal) => {
        const write = (to: string) =>
          read(input.runId, async (store) =>
            exportResults(store, {
              selection: await selected(store),
              others: await otherTables.of(store),
              sort: input.sort,
              format: input.format,
              language: input.language,
              columns: input.columns,
              reportList: input.reportList,
              path: to,
              environment: async () => (await service.pythonEnvironment.context()).environment,
              onProgress: (progress) => tell({ type: 'progress', ...progress }),
              signal,
            }),
          );
        const written =
          isPdf && window.shell === 'electron'
            ? await writePdf(write, path, window.desktop)
            : await write(path);
        const downloadPath = window.shell === 'browser' ? window.downloads.offer(path) : null;
        service.exported.add(path);
        tell({ type: 'written', path, downloadPath, ...written });
      }, outer);

      async function exportPath(): Promise<string> {
        if (window.shell === 'browser') {
          const { total } = await read(input.runId, async (store) =>
            store.countPredictions(await selected(store)),
          );
          const scope = exportScope(input.filter, input.rows);
          return window.downloads.place(
            exportFileName({
              runName: name,
              model: plan.model,
              format: formatNamed(input.format),
              scope,
              sequences: total,
              state,
            }),
          );
        }
        if (input.path === undefined) throw noFile();
        await known.check([input.path], window.paths);
        return input.path;
      }
    }),
  };
}
