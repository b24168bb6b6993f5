import { isAtWork } from '../../../../electron/contract/runState.ts';
import { queries } from '../../../state/connection.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import {
  Area,
  AreaChart,
  CartesianGrid,
  ReferenceArea,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import type { RunSummary } from '../../../../electron/contract/index.ts';
import { AccessibleChart } from '../../../components/charts/AccessibleChart.tsx';
import { Card } from '../../../components/Card.tsx';
import { niceTop, timeTicks } from '../../../components/charts/chartScale.ts';
import { ChartTip } from '../../../components/charts/ChartTip.tsx';
import { useTexts } from '../../../i18n/index.ts';
import { seedSpeeds, sequencesPerMinute, useLiveRun } from '../../../state/runs/liveRun.ts';
import { curvesEvery } from './curvesEvery.ts';
import { gapsBetween, totalsOverTime } from './throughputTotals.ts';
import { useOnceMoreAtEnd } from './useOnceMoreAtEnd.ts';

const MOST_POINTS = 240;
/** Of the chart's width: a narrower gap has no room for its name. */
const LABELLED_SHARE = 0.12;

/** Sequences a minute of all devices together, from the start of the run until now. */
export function ThroughputChart({ run }: { run: RunSummary }) {
  const { t, format } = useTexts();
  const answer = useQuery(
    queries.runs.throughput.queryOptions({
      input: { runId: run.runId },
      refetchInterval: () => isAtWork(run) && curvesEvery(run.createdAt),
    }),
  );
  useOnceMoreAtEnd(isAtWork(run), answer.refetch);
  const perResidue = useLiveRun((state) => sequencesPerMinute(1, state.live?.progress)) ?? 0;
  // Three digits do: the ratio creeps while files are being read, and the chart needs no new drawing for that.
  const factor = Number(perResidue.toPrecision(3));
  const points = useMemo(
    () =>
      totalsOverTime(answer.data ?? [], MOST_POINTS).map(({ time, total }) => ({
        time,
        total: total === null ? null : total * factor,
      })),
    [answer.data, factor],
  );
  const isSeeded = useRef(false);
  useEffect(() => {
    // Only once: later answers hold nothing that this window has not seen itself. What an earlier look at the run left is too old.
    if (isSeeded.current || answer.data === undefined || !answer.isFetchedAfterMount) return;
    isSeeded.current = true;
    seedSpeeds(answer.data, Date.now());
  }, [answer.data, answer.isFetchedAfterMount]);
  const top = Math.max(0, ...points.map((point) => point.total ?? 0));
  const gaps = useMemo(() => gapsBetween(points), [points]);
  const scaleTop = niceTop(top);
  const begin = points[0]?.time ?? 0;
  const end = points.at(-1)?.time ?? 0;
  return (
    <Card title={t('throughput.title')} aside={t('throughput.unit')}>
      {points.length < 2 ? (
        <p className="muted" style={{ minHeight: isAtWork(run) ? 204 : undefined, margin: 0 }}>
          {isAtWork(run) ? t('throughput.empty') : t('throughput.none')}
        </p>
      ) : (
        <AccessibleChart
          savable
          title={t('throughput.title')}
          summary={t('throughput.summary', {
            top: format.compact(top),
            now: format.compact(points.at(-1)?.total ?? 0),
          })}
          height={200}
          table={{
            columns: [t('throughput.time'), t('throughput.unit')],
            rows: points.map((point) => [
              format.time(new Date(point.time * 1000).toISOString()),
              point.total === null ? '–' : format.integer(point.total),
            ]),
          }}
        >
          <ResponsiveContainer width="100%" height="100%">
            <AreaChart
              data={points}
              margin={{ top: 6, right: 8, bottom: 0, left: 0 }}
              accessibilityLayer={false}
            >
              <CartesianGrid vertical={false} stroke="var(--line)" />
              {gaps.map(({ from, to }) => (
                <ReferenceArea
                  key={from}
                  x1={from}
                  x2={to}
                  fill="var(--surface-sunken)"
                  fillOpacity={1}
                  label={
                    (to - from) / (end - begin) < LABELLED_SHARE
                      ? false
                      : { value: t('throughput.gap'), fontSize: 11, fill: 'var(--text-muted)' }
                  }
                />
              ))}
              <XAxis
                dataKey="time"
                type="number"
                domain={['dataMin', 'dataMax']}
                ticks={timeTicks(end - begin).map((seconds) => begin + seconds)}
                tickFormatter={(time: number) => format.duration(Math.round(time - begin))}
                minTickGap={24}
                tick={{ fontSize: 11, fill: 'var(--text-muted)' }}
                tickLine={false}
                axisLine={{ stroke: 'var(--line-strong)' }}
              />
              <YAxis
                width={44}
                tickFormatter={format.compact}
                tick={{ fontSize: 11, fill: 'var(--text-muted)' }}
                tickLine={false}
                axisLine={false}
                domain={[0, scaleTop]}
                ticks={[0, scaleTop / 2, scaleTop]}
              />
              <Tooltip
                isAnimationActive={false}
                content={({ payload }) => {
                  const point = payload[0]?.payload as (typeof points)[number] | undefined;
                  return point && point.total !== null ? (
                    <ChartTip
                      title={format.time(new Date(point.time * 1000).toISOString())}
                      lines={[t('progress.sequencesPerMinute', { speed: format.rate(point.total) })]}
                    />
                  ) : null;
                }}
              />
              <Area
                type="linear"
                dataKey="total"
                stroke="var(--accent)"
                strokeWidth={1.75}
                fill="var(--accent)"
                fillOpacity={0.12}
                isAnimationActive={false}
              />
            </AreaChart>
          </ResponsiveContainer>
        </AccessibleChart>
      )}
    </Card>
  );
}
