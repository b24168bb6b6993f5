import { useElementSize } from '@mantine/hooks';
import { useMemo } from 'react';
import {
  FRAME_NAMES,
  strandFrame,
  type ChunkResult,
  type FrameName,
} from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { AccessibleChart } from './AccessibleChart.tsx';
import classes from './ChunkTrack.module.css';

const MOST_BARS = 400;
/** Used until the width of the container has been measured. */
const USUAL_WIDTH = 540;
const LEFT = 34;
const RIGHT = 6;
const TOP = 14;
const SCORES = 96;
const LANE = 13;
const LANE_GAP = 3;
const STRAND_GAP = 8;
const LANES_TOP = TOP + SCORES + 14;
const LANES_END = LANES_TOP + FRAME_NAMES.length * (LANE + LANE_GAP) + STRAND_GAP;
const HEIGHT = LANES_END + 18;
/** Bars narrower than this leave no gap between them. */
const ROOMY_PX = 5;

interface ChunkTrackProps {
  chunks: readonly ChunkResult[];
  length: number;
  picked: ChunkResult | undefined;
  onPick: (chunk: ChunkResult) => void;
}

const colorOf = ({ isVirus }: Pick<ChunkResult, 'isVirus'>) =>
  isVirus === null ? 'var(--not-scored)' : isVirus ? 'var(--virus)' : 'var(--others)';

const laneTop = (frame: FrameName) => {
  const lane = FRAME_NAMES.indexOf(strandFrame(frame));
  return LANES_TOP + lane * (LANE + LANE_GAP) + (lane < FRAME_NAMES.length / 2 ? 0 : STRAND_GAP);
};

/** The chunks' scores along the sequence, and below them the reading frames of both strands, with the deciding one marked. */
export function ChunkTrack({ chunks, length, picked, onPick }: ChunkTrackProps) {
  const { t, format } = useTexts();
  const { ref, width: measured } = useElementSize();
  const width = Math.max(240, measured || USUAL_WIDTH);
  const bars = useMemo(() => trackBars(chunks, length, MOST_BARS), [chunks, length]);
  const viral = chunks.filter((chunk) => chunk.isVirus === true).length;
  const scored = chunks.filter((chunk) => chunk.virusScore !== null).length;
  const x = (position: number) => LEFT + ((position - 1) / Math.max(1, length)) * (width - LEFT - RIGHT);
  const y = (score: number) => TOP + SCORES * (1 - score);
  return (
    <AccessibleChart
      title={t('chunks.trackTitle')}
      summary={t('chunks.trackSummary', { chunks: chunks.length, scored, viral })}
      height={HEIGHT}
      note={t('chunks.trackNote')}
      legend={[
        { label: t('prediction.virus'), color: 'var(--virus)' },
        { label: t('prediction.others'), color: 'var(--others)' },
        { label: t('prediction.not_scored'), color: 'var(--not-scored)' },
      ]}
    >
      <div ref={ref}>
        <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} className={classes.track}>
          {[0, 0.5, 1].map((score) => (
            <g key={score}>
              <line
                x1={LEFT}
                x2={width - RIGHT}
                y1={y(score)}
                y2={y(score)}
                className={score === 0.5 ? classes.half : classes.base}
              />
              <text x={LEFT - 6} y={y(score) + 4} textAnchor="end" className={classes.text}>
                {format.decimal(score)}
              </text>
            </g>
          ))}
          {FRAME_NAMES.map((frame) => (
            <g key={frame}>
              <text x={LEFT - 6} y={laneTop(frame) + LANE - 3} textAnchor="end" className={classes.text}>
                {frame}
              </text>
              <rect
                x={LEFT}
                y={laneTop(frame) + LANE - 1}
                width={width - LEFT - RIGHT}
                height={1}
                className={classes.lane}
              />
            </g>
          ))}
          {bars.map((bar) => (
            <Bar
              key={bar.start}
              bar={bar}
              left={x(bar.start)}
              right={x(bar.end + 1)}
              y={y}
              isPicked={bar.best.chunk === picked?.chunk}
              onPick={onPick}
              title={`${format.integer(bar.start)} – ${format.integer(bar.end)}: ${
                bar.best.virusScore === null
                  ? t('prediction.not_scored')
                  : `${format.score(bar.best.virusScore)}, ${bar.best.bestFrame ?? ''}`
              }`}
            />
          ))}
          {[1, Math.round(length / 2), length].map((position, index) => (
            <text
              key={index}
              x={x(position + (index === 2 ? 1 : 0))}
              y={HEIGHT - 3}
              textAnchor={(['start', 'middle', 'end'] as const)[index]}
              className={classes.text}
            >
              {index === 2 ? `${format.integer(position)} bp` : format.integer(position)}
            </text>
          ))}
        </svg>
      </div>
    </AccessibleChart>
  );
}

interface BarProps {
  bar: TrackBar<ChunkResult>;
  left: number;
  right: number;
  y: (score: number) => number;
  isPicked: boolean;
  onPick: (chunk: ChunkResult) => void;
  title: string;
}

/** Draws a chunk, or the best one of several: its score, and below it its frames. */
function Bar({ bar: { best }, left, right, y, isPicked, onPick, title }: BarProps) {
  const gap = right - left > ROOMY_PX ? 1.5 : 0;
  const width = Math.max(right - left - gap, 1);
  const top = best.virusScore === null ? y(0) - 4 : y(Math.max(best.virusScore, 0.01));
  return (
    <g className={classes.chunk} onClick={() => onPick(best)}>
      <title>{title}</title>
      <rect
        x={left}
        y={TOP}
        width={width}
        height={LANES_END - TOP}
        className={isPicked ? classes.picked : classes.area}
      />
      <rect x={left} y={top} width={width} height={y(0) - top} fill={colorOf(best)} />
      {best.frames.map(({ frame, score1, score2 }) => {
        const decides = frame === best.bestFrame;
        const isOfShorter = frame !== strandFrame(frame);
        return (
          <rect
            key={frame}
            x={frame.endsWith('b') ? left + width / 2 : left}
            y={laneTop(frame)}
            width={isOfShorter ? width / 2 : width}
            height={LANE - 1}
            fill={score2 >= score1 ? 'var(--virus)' : 'var(--others)'}
            fillOpacity={decides ? 1 : 0.35}
            className={decides ? classes.deciding : undefined}
          />
        );
      })}
    </g>
  );
}

type Scored = Pick<ChunkResult, 'start' | 'end' | 'virusScore'>;

/** A 1-based, inclusive range of bases. */
interface TrackBar<Chunk extends Scored> {
  readonly start: number;
  readonly end: number;
  /** The chunk that the bar shows. */
  readonly best: Chunk;
}

/**
 * One bar per chunk, or per group of neighbouring chunks if not all fit; a group shows its best chunk. Chunks may
 * overlap by some bases: a bar ends where the next one begins, so that none hides another.
 */
export function trackBars<Chunk extends Scored>(
  chunks: readonly Chunk[],
  length: number,
  mostBars: number,
): TrackBar<Chunk>[] {
  const perBar = Math.max(1, Math.ceil(chunks.length / mostBars));
  const bars: TrackBar<Chunk>[] = [];
  for (let begin = 0; begin < chunks.length; begin += perBar) {
    const group = chunks.slice(begin, begin + perBar);
    const firstOfGroup = group[0];
    if (!firstOfGroup) break;
    const best = group.reduce((a, b) => ((b.virusScore ?? -1) > (a.virusScore ?? -1) ? b : a));
    const next = chunks[begin + perBar];
    bars.push({
      start: firstOfGroup.start,
      end: next ? next.start - 1 : Math.max(group.at(-1)?.end ?? length, firstOfGroup.start),
      best,
    });
  }
  return bars;
}
