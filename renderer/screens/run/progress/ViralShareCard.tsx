import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Area } from 'recharts';
import type { RunSummary, ShareSoFar } from '../../../../electron/contract/index.ts';
import { isAtWork } from '../../../../electron/contract/runState.ts';
import { Card } from '../../../components/Card.tsx';
import { BASE_LINE, MARGIN, niceTop } from '../../../components/charts/axes.ts';
import { Plot } from '../../../components/charts/Plot.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { queries } from '../../../state/connection.ts';
import { useOnceMoreAtEnd } from './askingAgain.ts';

const EVERY_MS = 5_000;
/** Percentages below this have two digits. */
const SMALL_SHARE = 0.01;

/** Asked again every few seconds while the run is at work; the engine counts again only as often as that is cheap. */
export function useViralShares(run: RunSummary | null) {
  const atWork = run !== null && isAtWork(run);
  const answer = useQuery(
    queries.runs.viralSoFar.queryOptions({
      input: { runId: run?.runId ?? '' },
      enabled: run !== null && run.state.phase !== 'created',
      refetchInterval: atWork && EVERY_MS,
    }),
  );
  useOnceMoreAtEnd(atWork, answer.refetch);
  return answer.data;
}

export function useShareTexts() {
  const { t, format } = useTexts();
  const percent = (share: number): string => format.percent(share, share < SMALL_SHARE ? 2 : 1);
  return {
    percent,
    /** The share that the finished run will show; else what was counted. */
    share: ({ viral, scored, estimate }: ShareSoFar): string =>
      scored === 0
        ? '–'
        : estimate === null
          ? t('common.of', { part: format.integer(viral), whole: format.integer(scored) })
          : percent(estimate.share),
    interval: ({ estimate }: ShareSoFar): string =>
      estimate === null
        ? t('viral.noInterval')
        : t('viral.interval', { low: percent(estimate.low), high: percent(estimate.high) }),
    basis: ({ unit, scored, total }: ShareSoFar): string =>
      t(unit === 'chunks' ? 'viral.fromChunks' : 'viral.fromSequences', {
        scored: format.integer(scored),
        total: format.integer(total),
      }),
  };
}

/** What the run found so far, with the interval of what it will show in the end: for all of it, over its course, and for each sample. */
export function ViralShareCard({ run }: { run: RunSummary }) {
  const { t, format } = useTexts();
  const texts = useShareTexts();
  const found = useViralShares(run);
  if (!found || found.run.scored === 0) return null;
  const { curve, samples } = found;
  const top = niceTop(Math.max(...curve.map(({ high }) => high)) * 100);
  return (
    <Card title={t('viral.title')} aside={texts.basis(found.run)}>
      <p style={{ marginTop: 0 }}>
        <b>{texts.share(found.run)}</b> {texts.interval(found.run)}
      </p>
      {curve.length > 1 && (
        <Plot
          kind="area"
          title={t('viral.title')}
          summary={`${texts.share(found.run)} ${texts.interval(found.run)}`}
          height={180}
          table={() => ({
            columns: [t('viral.computed'), t('viral.share'), t('viral.low'), t('viral.high')],
            rows: curve.map(({ fraction, share, low, high }) =>
              [fraction, share, low, high].map((value) => texts.percent(value)),
            ),
          })}
          data={curve}
          margin={MARGIN}
          x={{
            type: 'number',
            dataKey: 'fraction',
            domain: [0, 1],
            ticks: [0, 0.25, 0.5, 0.75, 1],
            tickFormatter: (fraction: number) => format.percent(fraction),
            axisLine: BASE_LINE,
          }}
          y={{
            domain: [0, top / 100],
            tickFormatter: (share: number) => texts.percent(share),
            axisLine: false,
          }}
          tip={({ fraction, ...estimate }) => ({
            title: t('viral.when', { fraction: format.percent(fraction, 1) }),
            lines: [
              `${texts.percent(estimate.share)} ${t('viral.interval', { low: texts.percent(estimate.low), high: texts.percent(estimate.high) })}`,
            ],
          })}
        >
          <Area
            dataKey={({ low, high }: { low: number; high: number }) => [low, high]}
            stroke="none"
            fill="var(--accent)"
            fillOpacity={0.18}
            isAnimationActive={false}
          />
          <Area dataKey="share" stroke="var(--accent)" fill="none" isAnimationActive={false} />
        </Plot>
      )}
      {samples.length > 1 && (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('viral.sample')}</Table.Th>
              <Table.Th>{t('viral.share')}</Table.Th>
              <Table.Th>{t('viral.restsOn')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {samples.map((sample) => (
              <Table.Tr key={sample.sample}>
                <Table.Td>{sample.sample}</Table.Td>
                <Table.Td>
                  {texts.share(sample)} {sample.estimate && texts.interval(sample)}
                </Table.Td>
                <Table.Td>{texts.basis(sample)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Card>
  );
}
