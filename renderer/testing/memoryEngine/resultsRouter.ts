import { implement } from '@orpc/server';
import { appError, contract, type SequenceResult } from '../../../electron/contract/index.ts';
import { filteredSequences, madeChunks, sortedSequences } from './sequences.ts';
import type { World } from './world.ts';

export function resultsRouter(world: World) {
  const { results } = implement(contract);
  return {
    page: results.page.handler(({ input }) => {
      const all = sortedSequences(
        filteredSequences(world.sequencesOf(input.runId), input.filter),
        input.sort,
      );
      return { total: all.length, items: all.slice(input.offset, input.offset + input.limit) };
    }),
    counts: results.counts.handler(({ input }) => {
      const rows = filteredSequences(world.sequencesOf(input.runId), input.filter);
      const count = (prediction: SequenceResult['prediction']) =>
        rows.filter((row) => row.prediction === prediction).length;
      return {
        total: rows.length,
        virus: count('virus'),
        others: count('others'),
        notScored: count('not_scored'),
        failed: count('failed'),
      };
    }),
    histogram: results.histogram.handler(({ input }) => {
      const bins = Array.from({ length: input.bins }, () => 0);
      for (const row of filteredSequences(world.sequencesOf(input.runId), input.filter)) {
        if (row.virusScore === null) continue;
        const bin = Math.min(input.bins - 1, Math.floor(row.virusScore * input.bins));
        bins[bin] = (bins[bin] ?? 0) + 1;
      }
      return { bins };
    }),
    lengthScores: results.lengthScores.handler(({ input }) => {
      const edges = [0, 300, 500, 1000, 2000, 5000];
      const none = () => edges.map(() => Array.from({ length: input.bins }, () => 0));
      const found = { edges, virus: none(), others: none() };
      for (const { prediction, virusScore, length } of filteredSequences(
        world.sequencesOf(input.runId),
        input.filter,
      )) {
        if (virusScore === null || (prediction !== 'virus' && prediction !== 'others')) continue;
        const row = found[prediction][edges.findLastIndex((edge) => edge <= length)];
        const bin = Math.min(input.bins - 1, Math.floor(virusScore * input.bins));
        if (row) row[bin] = (row[bin] ?? 0) + 1;
      }
      return found;
    }),
    chunks: results.chunks.handler(({ input, errors }) => {
      const sequence = world.sequencesOf(input.runId)[input.row];
      if (!sequence) throw errors.APP({ data: appError('internal', 'There is no such sequence.') });
      return { sequence, chunks: madeChunks(sequence) };
    }),
    samples: results.samples.handler(({ input }) => {
      const names = world.samplesOf(world.find(input.runId));
      const items = [...new Set(names)].map((sample) => {
        const inputs = names.flatMap((name, index) => (name === sample ? [index] : []));
        const rows = filteredSequences(world.sequencesOf(input.runId), { inputs });
        const count = (prediction: SequenceResult['prediction']) =>
          rows.filter((row) => row.prediction === prediction).length;
        const bases = (some: readonly SequenceResult[]) => some.reduce((sum, { length }) => sum + length, 0);
        return {
          sample,
          inputs,
          sequences: rows.length,
          virus: count('virus'),
          others: count('others'),
          notScored: count('not_scored'),
          failed: count('failed'),
          bases: bases(rows),
          viralBases: bases(rows.filter(({ prediction }) => prediction === 'virus')),
        };
      });
      return { names, items };
    }),
    setSamples: results.setSamples.handler(({ input }) => {
      world.samples.set(input.runId, input.names);
    }),
    // eslint-disable-next-line @typescript-eslint/require-await -- a stream, as the engine's is
    export: results.export.handler(async function* ({ input }) {
      const total = filteredSequences(world.sequencesOf(input.runId), input.filter).length;
      yield { type: 'progress' as const, done: 0, total };
      yield {
        type: 'written' as const,
        path: input.path ?? '/tmp/export.tsv',
        downloadPath: null,
        sequences: total,
        bytes: 123_456,
      };
    }),
  };
}
