import { implement } from '@orpc/server';
import {
  appError,
  CONSERVATIVE,
  contract,
  NO_DETAILS,
  type CallAgreement,
  type ComparedSequence,
  type OtherTable,
  type SequenceFilter,
  type SequenceResult,
} from '../../../../electron/contract/index.ts';
import {
  countCalls,
  filteredSequences,
  madeChunks,
  madeLetters,
  madeRibbon,
  saidByOther,
  sortedSequences,
} from '../sequences.ts';
import type { World } from '../world.ts';

const OTHER_COLUMNS = ['virus_score', 'taxonomy'];
/** A table of this name makes no calls, until the user names a rule. */
const WITHOUT_CALLS = /scores\.csv$/;
const titleOfTable = (index: number) => (index === 0 ? 'geNomad' : 'DeepVirFinder');

const foundIn = (rows: readonly SequenceResult[]) => ({
  sequences: rows.length,
  byPrediction: countCalls(rows),
  bases: rows.reduce((sum, { length }) => sum + length, 0),
});

/** How often both runs say the same of what both called; one of 37 calls differs, in either direction alike. */
function agreementOf(
  where: Pick<CallAgreement, 'sample' | 'file'> | null,
  compared: readonly ComparedSequence[],
): CallAgreement {
  const isCall = (call: SequenceResult['prediction']) => call === 'virus' || call === 'others';
  const both = compared.filter(({ first, second }) => isCall(first.prediction) && isCall(second.prediction));
  const same = both.filter(({ first, second }) => first.prediction === second.prediction);
  return {
    ...(where ?? { sample: null, file: null }),
    ...{ called: both.length, sameCall: same.length, kappa: 0.931 },
  };
}

export function resultsRouter(world: World) {
  const { results } = implement(contract);
  const selected = ({ runId, filter }: { runId: string; filter: SequenceFilter }) => {
    const found = filteredSequences(world.sequencesOf(runId), filter);
    return filter.shortlisted ? found.filter(({ row }) => world.shortlists.get(runId)?.has(row)) : found;
  };
  const comparedSequences = ({ runId, otherRunId }: { runId: string; otherRunId: string }) => {
    const [first, second] = [world.sequencesOf(runId), world.sequencesOf(otherRunId)];
    const marked = new Set([runId, otherRunId].flatMap((id) => [...(world.shortlists.get(id) ?? [])]));
    const all = first.slice(0, Math.min(first.length, second.length)).map((sequence, row) => {
      const { seqName, length, prediction, virusScore } = sequence;
      const ribbon = madeRibbon(sequence);
      const isOther = row % 37 === 0 && (prediction === 'virus' || prediction === 'others');
      return {
        seqName,
        length,
        first: { row, prediction, virusScore, ribbon },
        second: {
          row,
          prediction: isOther ? (prediction === 'virus' ? 'others' : 'virus') : prediction,
          // Scores as another precision would give them: slightly shifted.
          virusScore:
            virusScore === null ? null : Math.min(1, Math.max(0, virusScore + 0.06 * Math.sin(row))),
          ribbon: isOther ? ribbon.map((step) => -step) : ribbon,
        },
      };
    });
    return {
      all,
      changed: all.filter((one) => one.first.prediction !== one.second.prediction),
      shortlisted: all.filter((one) => marked.has(one.first.row)),
    };
  };
  return {
    page: results.page.handler(({ input }) => {
      const all = sortedSequences(selected(input), input.sort);
      const items = all.slice(input.offset, input.offset + input.limit);
      const tables = world.otherTables.get(input.runId) ?? [];
      return {
        total: all.length,
        items: items.map((item) => ({
          ...item,
          ribbon: madeRibbon(item),
          ...(tables.length === 0 ? {} : { others: tables.map(() => saidByOther(item)) }),
        })),
      };
    }),
    otherTables: results.otherTables.handler(({ input }) =>
      (world.otherTables.get(input.runId) ?? []).map((path, index): OtherTable => {
        const all = world.sequencesOf(input.runId);
        const rule = world.otherRules.get(path) ?? null;
        const isSilent = WITHOUT_CALLS.test(path) && rule === null;
        const count = (prediction: SequenceResult['prediction']) => {
          const some = all.filter((row) => row.prediction === prediction);
          const named = some.flatMap((row) => saidByOther(row) ?? []);
          const virus = isSilent ? 0 : named.filter(({ isVirus }) => isVirus).length;
          const noCall = isSilent ? named.length : 0;
          return {
            ...{ virus, notVirus: named.length - virus - noCall, noCall },
            notInTable: some.length - named.length,
          };
        };
        const matched = all.filter((row) => saidByOther(row) !== null).length;
        return {
          title: WITHOUT_CALLS.test(path) ? 'scores.csv' : titleOfTable(index),
          file: path.split(/[\\/]/).at(-1) ?? path,
          rule: isSilent ? 'unknown' : rule === null ? 'listed' : 'named',
          named: rule,
          notUnderstood: { lines: isSilent ? matched : 0, words: [] },
          columns: OTHER_COLUMNS,
          lines: matched + 2,
          matched,
          unmatched: ['k141_999991', 'k141_999992'],
          calls: {
            virus: count('virus'),
            others: count('others'),
            not_scored: count('not_scored'),
            failed: count('failed'),
          },
        };
      }),
    ),
    addOtherTable: results.addOtherTable.handler(({ input }) => {
      const isOriginal = /prediction_results[^/\\]*$/.test(input.path);
      if (!isOriginal) world.otherTables.set(input.runId, [input.path]);
      return { isOriginal };
    }),
    callOtherTable: results.callOtherTable.handler(({ input }) => {
      const path = world.otherTables.get(input.runId)?.[input.table];
      if (path !== undefined) world.otherRules.set(path, input.rule);
    }),
    removeOtherTable: results.removeOtherTable.handler(({ input }) => {
      world.otherTables.delete(input.runId);
    }),
    counts: results.counts.handler(({ input }) => {
      const rows = selected(input);
      return {
        total: rows.length,
        byPrediction: countCalls(rows),
        unsettled: rows.filter((row) => !row.settled).length,
      };
    }),
    histogram: results.histogram.handler(({ input }) => {
      const none = () => Array.from({ length: input.bins }, () => 0);
      const counts = { virus: none(), others: none() };
      for (const { virusScore, prediction } of selected(input)) {
        if (virusScore === null || (prediction !== 'virus' && prediction !== 'others')) continue;
        const bin = Math.min(input.bins - 1, Math.floor(virusScore * input.bins));
        counts[prediction][bin] = (counts[prediction][bin] ?? 0) + 1;
      }
      return counts;
    }),
    lengths: results.lengths.handler(({ input }) =>
      [0, 300, 500, 1000, 2000, 5000].map((from, i, edges) => {
        const to = edges[i + 1] ?? null;
        const inside = selected(input).filter(({ length }) => length >= from && length < (to ?? Infinity));
        const { virus, others, not_scored } = countCalls(inside);
        return { from, to, virus, others, not_scored };
      }),
    ),
    chunks: results.chunks.handler(({ input, errors }) => {
      const sequence = world.sequencesOf(input.runId)[input.row];
      if (!sequence) throw errors.APP({ data: appError('internal', 'There is no such sequence.') });
      const other = saidByOther(sequence);
      const others = (world.otherTables.get(input.runId) ?? []).map((_, index) => ({
        title: titleOfTable(index),
        isNamed: other !== null,
        isVirus: other?.isVirus ?? null,
        columns: (other?.text.split(' · ') ?? []).map((value, i) => ({
          name: OTHER_COLUMNS[i] ?? '',
          value,
        })),
      }));
      return { sequence, chunks: madeChunks(sequence), others };
    }),
    letters: results.letters.handler(({ input, errors }) => {
      const sequence = world.sequencesOf(input.runId)[input.row];
      if (!sequence) throw errors.APP({ data: appError('internal', 'There is no such sequence.') });
      return madeLetters(sequence);
    }),
    shortlisted: results.shortlisted.handler(({ input }) => [...(world.shortlists.get(input.runId) ?? [])]),
    shortlist: results.shortlist.handler(({ input: { runId, row, shortlisted } }) => {
      const rows = new Set(world.shortlists.get(runId)).add(row);
      if (!shortlisted) rows.delete(row);
      world.shortlists.set(runId, rows);
    }),
    compare: results.compare.handler(({ input }) => {
      const [first, second] = [world.sequencesOf(input.runId), world.sequencesOf(input.otherRunId)];
      const { all, shortlisted } = comparedSequences(input);
      const none = () => ({ virus: 0, others: 0, not_scored: 0, failed: 0 });
      const calls = { virus: none(), others: none(), not_scored: none(), failed: none() };
      for (const { first: one, second: other } of all) calls[one.prediction][other.prediction] += 1;
      const { plan, samples } = world.find(input.runId);
      const byInput = plan.inputs.map(({ path }, index) =>
        agreementOf(
          { sample: samples[index] ?? '', file: path.split('/').at(-1) ?? path },
          all.filter((one) => first[one.first.row]?.input === index),
        ),
      );
      return {
        inBoth: all.length,
        matchedByOrder: 0,
        changedInputs: [],
        otherInputs: { first: [], second: [] },
        onlyInFirst: first.length - all.length,
        onlyInSecond: second.length - all.length,
        sameCall: all.filter((one) => one.first.prediction === one.second.prediction).length,
        calls,
        agreement: [agreementOf(null, all), ...byInput],
        scores: {
          compared: all.length,
          correlation: 0.9871,
          meanAbsoluteDifference: 0.0211,
          largestDifference: 0.06,
        },
        shortlisted: shortlisted.length,
      };
    }),
    comparedPage: results.comparedPage.handler(({ input: { list, offset, limit, ...runs } }) => {
      const listed = comparedSequences(runs)[list];
      return { total: listed.length, items: listed.slice(offset, offset + limit) };
    }),
    compareOriginal: results.compareOriginal.handler(({ input }) => {
      const [first, second] = world.sequencesOf(input.runId);
      const differing = [first, second].flatMap((sequence) =>
        sequence
          ? [
              {
                row: sequence.row,
                seqName: sequence.seqName,
                chunk: 1,
                start: 1,
                end: 500,
                run: { call: 'virus' as const, score1: 0.4999, score2: 0.5001 },
                file: { call: 'others' as const, score1: 0.5001, score2: 0.4999 },
              },
            ]
          : [],
      );
      return {
        file: input.path.split(/[\\/]/).at(-1) ?? input.path,
        chunkLength: 500,
        inBoth: 640,
        sameCall: 638,
        calls: { virus: { virus: 301, others: 2 }, others: { virus: 0, others: 337 } },
        onlyInRun: 3,
        onlyInFile: 0,
        ambiguous: 4,
        scores: {
          compared: 640,
          correlation: 0.999999,
          meanAbsoluteDifference: 9e-8,
          largestDifference: 7.8e-7,
        },
        differing,
      };
    }),
    samples: results.samples.handler(({ input }) => {
      const names = world.find(input.runId).samples;
      const items = [...new Set(names)].map((sample) => {
        const inputs = names.flatMap((name, index) => (name === sample ? [index] : []));
        const rows = filteredSequences(world.sequencesOf(input.runId), { inputs });
        return {
          ...NO_DETAILS,
          sample,
          inputs,
          ...foundIn(rows),
        };
      });
      const all = world.sequencesOf(input.runId);
      return {
        names,
        items,
        all: foundIn(all),
        inControls: null,
        outsideControls: foundIn(all),
        strong: filteredSequences(all, CONSERVATIVE).length,
      };
    }),
    exportFormats: results.exportFormats.handler(() => [...world.formats]),
    // eslint-disable-next-line @typescript-eslint/require-await -- a stream, as the engine's is
    export: results.export.handler(async function* ({ input }) {
      const total = selected(input).length;
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
