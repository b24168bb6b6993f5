import { useMemo } from 'react';
import { useTexts } from '../../../i18n/index.ts';
import { lengthScoreGrid, type LengthScores } from './distributions.ts';
import { beside, lengthLabel, lengthTicks, MERGED } from './plotParts.ts';
import { SquaresChart } from './SquaresChart.tsx';

/** Length against score. */
export function LengthScoreChart({ found }: { found: LengthScores }) {
  const texts = useTexts();
  const { t } = texts;
  const rows = useMemo(() => lengthScoreGrid(found, MERGED), [found]);
  return (
    <SquaresChart
      title={t('plots.grid')}
      counts={rows.map(({ counts }) => counts)}
      rowLabels={rows.map((row) => lengthLabel(texts, row))}
      rowAxis={{ ...lengthTicks(rows, texts), label: beside(t('plots.bases')), interval: 0 }}
      rowTitle={t('results.column.length')}
      columnTitle={t('results.column.virusScore')}
    />
  );
}
