import { useTexts } from '../../../i18n/index.ts';
import { beside, SCORE_TICKS } from './plotParts.ts';
import { SquaresChart } from './SquaresChart.tsx';

/** The scores of two runs: on the diagonal where they agree. */
export function TwoScoresChart({
  counts,
  names,
}: {
  counts: readonly (readonly number[])[];
  names: [string, string];
}) {
  const { t, format } = useTexts();
  const bins = counts.length;
  const ticks = SCORE_TICKS.map((score) => score * bins);
  const edge = (bin: number) => format.decimal(bin / bins, 2);
  return (
    <SquaresChart
      title={t('compare.scores')}
      counts={counts}
      rowLabels={counts.map((_, bin) => `${edge(bin)} – ${edge(bin + 1)}`)}
      rowAxis={{
        ticks,
        domain: [0, bins],
        tickFormatter: (bin: number) => format.decimal(bin / bins, 1),
        label: beside(names[0]),
      }}
      rowTitle={names[0]}
      columnTitle={names[1]}
    />
  );
}
