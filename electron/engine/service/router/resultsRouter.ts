import { appError, AppFailure } from '../../../contract/errors.ts';
import type { SequenceFilter } from '../../../contract/rpc/results.ts';
import type { SequenceSelection } from '../../store/sqlite/results/sequenceFilter.ts';
import { exportResults, suggestedName } from '../questions/exportResults.ts';
import type { Service } from '../service.ts';
import { calls } from './implementer.ts';

/** A sequence of 100 million bases has as many chunks; the drawer draws no more than this. */
const MOST_CHUNKS = 20_000;

export function resultsRouter(service: Service) {
  const { catalog, known, open } = service;
  const { results } = calls;
  const read = <Answer>(runId: string, ask: Parameters<typeof open.read<Answer>>[1]): Promise<Answer> =>
    open.read(catalog.folder(runId), ask);

  return {
    page: results.page.handler(({ input }) =>
      read(input.runId, (store) =>
        store.findSequences(selection(input.filter), input.sort, input.offset, input.limit),
      ),
    ),
    counts: results.counts.handler(async ({ input }) => {
      const { total, byPrediction } = await read(input.runId, (store) =>
        store.countPredictions(selection(input.filter)),
      );
      const { virus, others, not_scored: notScored, failed } = byPrediction;
      return { total, virus, others, notScored, failed };
    }),
    histogram: results.histogram.handler(async ({ input }) => ({
      bins: await read(input.runId, (store) => store.scoreBins(selection(input.filter), input.bins)),
    })),
    chunks: results.chunks.handler(({ input }) =>
      read(input.runId, async (store) => {
        const [sequence, page] = await Promise.all([
          store.sequence(input.row),
          store.chunksOf(input.row, 0, MOST_CHUNKS),
        ]);
        if (!sequence) throw new AppFailure(appError('usage', 'There is no such sequence in this run.'));
        return { sequence, chunks: page.chunks };
      }),
    ),
    export: results.export.handler(async ({ input, context: { window } }) => {
      const { name, plan } = catalog.find(input.runId);
      const path = await exportPath();
      const written = await read(input.runId, (store) =>
        exportResults(
          store,
          {
            selection: { ...selection(input.filter), rows: input.rows },
            format: input.format,
            byteOrderMark: input.byteOrderMark,
            path,
          },
          () => service.gate.context(),
        ),
      );
      return {
        path,
        downloadPath: window.shell === 'browser' ? window.downloads.offer(path) : null,
        ...written,
      };

      async function exportPath(): Promise<string> {
        if (window.shell === 'browser')
          return window.downloads.place(suggestedName(name, plan.model, input.format));
        if (input.path === undefined) {
          throw new AppFailure(
            appError('usage', 'The export has no file to go to.', { nextStep: 'Choose one.' }),
          );
        }
        await known.check([input.path], window.paths);
        return input.path;
      }
    }),
  };
}

function selection(filter: SequenceFilter): SequenceSelection {
  return { filter };
}
