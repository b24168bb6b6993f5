import { formatCount, samplesOf, summariseSamples, viralShare } from '../../engine/index.ts';
import { EXIT } from '../exitCodes.ts';
import { filterOf, sortOf } from '../filterArgument.ts';
import { withRun } from '../openRunFolder.ts';
import { textTable } from '../output/textTable.ts';
import { toStandardOutput } from '../output/terminal.ts';

export interface ResultsFlags {
  filter: string[];
  sort: string;
  rows: number;
  json?: boolean;
}

/** A quick look at the results of a run: what each sample holds, and the top of the list. */
export async function results(run: string, flags: ResultsFlags, storeHost: URL): Promise<number> {
  return withRun(run, storeHost, async (store) => {
    const stored = await store.loadRun();
    const samples = samplesOf(stored);
    const filter = filterOf(flags.filter, { inputs: stored.inputs.map(({ path }) => path), samples });
    const summaries = summariseSamples(samples, await store.inputSummaries());
    const found = await store.findSequences({ filter }, sortOf(flags.sort), 0, flags.rows);
    const sequences = summaries.reduce((sum, summary) => sum + summary.sequences, 0);
    const { model } = stored.plan;
    if (flags.json === true) {
      const { total, items } = found;
      process.stdout.write(
        `${JSON.stringify({ model: model.name, notice: model.notice, provisional: stored.state.phase !== 'done', samples: summaries, total, sequences: items })}\n`,
      );
      return EXIT.done;
    }
    const lines = [
      `${stored.description.name}: model ${model.title}${model.notice === null ? '' : ` (${model.notice})`}`,
      ...(stored.state.phase === 'done'
        ? []
        : [
            `Provisional: the run is not done, and ${formatCount(sequences)} of its ${formatCount(stored.counts.records)} sequences read so far have a result.`,
          ]),
      '',
      ...textTable(
        ['sample', '>sequences', '>virus', '>others', '>not scored', '>failed', '>viral share'],
        summaries.map((summary) => {
          const { virus, others, not_scored: notScored, failed } = summary.byPrediction;
          const share = viralShare(summary);
          return [
            summary.sample,
            ...[summary.sequences, virus, others, notScored, failed].map(formatCount),
            share === null ? '-' : `${(100 * share).toFixed(1)} %`,
          ];
        }),
      ),
      '',
      ...textTable(
        ['>no.', 'name', 'sample', '>length', '>score', 'call', 'evidence', '>scored chunks'],
        found.items.map((row) => [
          formatCount(row.row + 1),
          row.seqName,
          samples[row.input] ?? '',
          formatCount(row.length),
          row.virusScore === null ? '-' : row.virusScore.toFixed(4),
          row.prediction,
          row.evidence ?? '-',
          `${row.nChunksScored} of ${row.nChunks}`,
        ]),
      ),
      `${formatCount(found.items.length)} of ${formatCount(found.total)} sequences that fit the filter; export them with "virnucpro export".`,
    ];
    toStandardOutput(lines.join('\n'));
    return EXIT.done;
  });
}
