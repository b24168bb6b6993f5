import { useMemo } from 'react';
import type { ChunkResult } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { AccessibleChart } from './AccessibleChart.tsx';
import { trackBars, type TrackBar } from './chunkTrackBars.ts';
import classes from './ChunkTrack.module.css';

const WIDTH = 1000;
const HEIGHT = 120;
const MOST_BARS = 400;

interface ChunkTrackProps {
  chunks: readonly ChunkResult[];
  length: number;
}

const colorOf = (bar: TrackBar) =>
  bar.score === null ? 'var(--not-scored)' : bar.isVirus ? 'var(--virus)' : 'var(--others)';

/** The chunks' scores along the sequence: height is the largest score2 of a chunk's frames. */
export function ChunkTrack({ chunks, length }: ChunkTrackProps) {
  const { t, format } = useTexts();
  const bars = useMemo(() => trackBars(chunks, length, MOST_BARS), [chunks, length]);
  const viral = chunks.filter((chunk) => chunk.isVirus === true).length;
  const scored = chunks.filter((chunk) => chunk.score2 !== null).length;
  const x = (position: number) => ((position - 1) / Math.max(1, length)) * WIDTH;
  return (
    <AccessibleChart
      title={t('chunks.trackTitle')}
      summary={t('chunks.trackSummary', { chunks: chunks.length, scored, viral })}
      height={HEIGHT + 44}
      table={{
        columns: [t('chunks.position'), t('chunks.score'), t('chunks.frame'), t('chunks.call')],
        rows: chunks.map((chunk) => [
          `${format.integer(chunk.start)} – ${format.integer(chunk.end)}`,
          chunk.score2 === null ? '–' : format.score(chunk.score2),
          chunk.bestFrame ?? '–',
          chunk.isVirus === null
            ? t(`reason.${chunk.reason}`)
            : t(chunk.isVirus ? 'prediction.virus' : 'prediction.others'),
        ]),
      }}
    >
      <div className={classes.plot}>
        <div className={classes.axis} style={{ height: HEIGHT }}>
          <span>{format.decimal(1)}</span>
          <span>{format.decimal(0.5)}</span>
          <span>{format.decimal(0)}</span>
        </div>
        <div className={classes.track}>
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width="100%" height={HEIGHT} preserveAspectRatio="none">
            <line
              x1="0"
              x2={WIDTH}
              y1={HEIGHT / 2}
              y2={HEIGHT / 2}
              className={classes.half}
              vectorEffect="non-scaling-stroke"
            />
            {bars.map((bar) => {
              const top = bar.score === null ? HEIGHT - 4 : HEIGHT * (1 - Math.max(bar.score, 0.01));
              return (
                <rect
                  key={bar.start}
                  x={x(bar.start)}
                  y={top}
                  width={Math.max(x(bar.end + 1) - x(bar.start) - (bars.length < 120 ? 2 : 0), 1)}
                  height={HEIGHT - top}
                  fill={colorOf(bar)}
                >
                  <title>
                    {`${format.integer(bar.start)} – ${format.integer(bar.end)}: ${bar.score === null ? t('prediction.not_scored') : format.score(bar.score)}`}
                  </title>
                </rect>
              );
            })}
            <line
              x1="0"
              x2={WIDTH}
              y1={HEIGHT}
              y2={HEIGHT}
              className={classes.base}
              vectorEffect="non-scaling-stroke"
            />
          </svg>
          <div className={classes.positions}>
            <span>1</span>
            <span>{format.integer(Math.round(length / 2))}</span>
            <span>{format.integer(length)} bp</span>
          </div>
        </div>
      </div>
    </AccessibleChart>
  );
}
