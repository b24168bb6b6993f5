import { predictionSchema, shownScore, viralShare } from '../../../contract/results.ts';
import { sharePercent } from '../../../contract/shareEstimate.ts';
import type { OtherSays, OtherTable } from '../../../contract/otherTools.ts';
import {
  formatCount,
  formatPercent,
  otherText,
  samplesFound,
  summariseOtherTable,
} from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { sortOf, selectionAsked, WITH_RULE } from '../../filterArgument.ts';
import { withRun } from '../../openEngine.ts';
import { textTable, toStandardOutput } from '../../output/terminal.ts';

export interface ResultsFlags {
  filter: string[];
  sort: string;
  with: string[];
  rows: number;
  json?: boolean;
}

/** Prints an overview of a run's results: the contents of each sample, and the top of the list. */
export async function results(run: string, flags: ResultsFlags): Promise<number> {
  return withRun(run, async (store) => {
    const stored = await store.loadRun();
    const { samples, others, selection } = await selectionAsked(store, stored, flags);
    const compared = await Promise.all(others.map((joined) => summariseOtherTable(store, joined)));
    const summary = await samplesFound(store, stored);
    const found = await store.findSequences(selection, sortOf(flags.sort), 0, flags.rows);
    const { model } = stored.plan;
    if (flags.json === true) {
      const { total } = found;
      const items = found.items.map((item) =>
        others.length === 0 ? item : { ...item, others: others.map((joined) => otherText(joined, item.row)) },
      );
      process.stdout.write(
        `${JSON.stringify({ model: model.name, notice: model.notice, provisional: stored.state.phase !== 'done', samples: summary.items, ...(others.length > 0 && { otherTables: compared }), total, sequences: items })}\n`,
      );
      return EXIT.done;
    }
    const lines = [
      `${stored.description.name}: model ${model.title}${model.notice === null ? '' : ` (${model.notice})`}`,
      ...(stored.state.phase === 'done'
        ? []
        : [
            `Provisional: the run is not done, and ${formatCount(summary.all.sequences)} of its ${formatCount(stored.counts.records)} sequences read so far have a result.`,
          ]),
      '',
      ...textTable(
        ['sample', '>sequences', '>virus', '>others', '>not scored', '>failed', '>viral share'],
        summary.items.map(({ sample, sequences, byPrediction }) => {
          const { virus, others, not_scored: notScored, failed } = byPrediction;
          return [
            sample,
            ...[sequences, virus, others, notScored, failed].map(formatCount),
            sharePercent(viralShare(byPrediction), formatPercent),
          ];
        }),
      ),
      '',
      ...compared.flatMap(agreementLines),
      ...textTable(
        [
          ...['>no.', 'name', 'sample', '>length', '>score', 'call', 'evidence', '>scored chunks'],
          ...others.map(({ table }) => table.title),
        ],
        found.items.map((row) => [
          formatCount(row.row + 1),
          row.seqName,
          samples[row.input] ?? '',
          `${formatCount(row.length)}${row.tooShort ? ' (too short)' : ''}`,
          row.virusScore === null ? '-' : shownScore(row.virusScore).toFixed(4),
          row.settled ? row.prediction : `${row.prediction} (may change)`,
          row.evidence ?? '-',
          `${row.nChunksScored} of ${row.nChunks}`,
          ...others.map((joined) => otherCell(otherText(joined, row.row))),
        ]),
      ),
      `${formatCount(found.items.length)} of ${formatCount(found.total)} sequences that fit the filter; export them with "virnucpro export".`,
    ];
    toStandardOutput(lines.join('\n'));
    return EXIT.done;
  });
}

function otherCell(other: OtherSays | null): string {
  if (other === null) return '-';
  const call = other.isVirus === null ? 'no call' : other.isVirus ? 'virus' : 'not virus';
  return other.text === '' ? call : `${call} (${other.text})`;
}

const OTHER_RULES: Readonly<Record<OtherTable['rule'], string>> = {
  listed: 'every sequence in it is one that it takes for a virus',
  call: 'by its column of calls',
  largest: 'it takes for a virus whatever has its largest score there',
  named: 'what it takes for a virus',
  unknown: `no column of calls that is understood, so no calls. ${WITH_RULE}`,
};

/** How often another tool agrees. */
function agreementLines({
  title,
  file,
  rule,
  named,
  columns,
  lines,
  matched,
  unmatched,
  notUnderstood,
  calls,
}: OtherTable): string[] {
  return [
    `${title} (${file}; ${OTHER_RULES[rule]}${rule === 'named' ? `: ${named?.column} ${named?.virus}` : ''}): ${formatCount(matched)} of ${formatCount(lines)} lines name a sequence of this run`,
    ...(rule === 'unknown' ? [`its columns: ${columns.join(', ')}`] : []),
    ...(notUnderstood.words.length > 0
      ? [
          `lines without a call that is understood: ${formatCount(notUnderstood.lines)} (${notUnderstood.words.slice(0, 5).join(', ')}). ${WITH_RULE}`,
        ]
      : []),
    ...(unmatched.length > 0 ? [`not found: ${unmatched.slice(0, 3).join(', ')} ...`] : []),
    ...textTable(
      ['our call', '>virus there', '>no virus there', '>no call there', '>not in its table'],
      predictionSchema.options.map((call) => [
        call,
        formatCount(calls[call].virus),
        formatCount(calls[call].notVirus),
        formatCount(calls[call].noCall),
        formatCount(calls[call].notInTable),
      ]),
    ),
    '',
  ];
}
