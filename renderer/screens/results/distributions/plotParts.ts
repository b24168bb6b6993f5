import type { Texts } from '../../../i18n/index.ts';
import type { LengthBin } from './distributions.ts';

/** What the plots have in common: their size, their axes, and how lengths and scores stand on them. */

export const HEIGHT = 260;
const TICK = { fontSize: 11, fill: 'var(--text-muted)' };
export const AXIS = { tick: TICK, tickLine: false } as const;
export const BASE_LINE = { stroke: 'var(--line-strong)' };
/** Of numbers, below a plot. */
export const BOTTOM_AXIS = { ...AXIS, tickLine: BASE_LINE, axisLine: BASE_LINE, type: 'number' } as const;
export const MARGIN = { top: 16, right: 14, bottom: 12, left: 12 };
export const COUNT_AXIS_PX = 52;
export const SCORE_TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];
export const SHARE_TICKS = [0, 0.25, 0.5, 0.75, 1];
/** Score bins of the engine that make one of a plot. */
export const MERGED = 5;

export const below = (value: string) =>
  ({ value, position: 'insideBottom', offset: -8, fontSize: 11, fill: 'var(--text-muted)' }) as const;
export const beside = (value: string) =>
  ({
    value,
    angle: -90,
    position: 'insideLeft',
    offset: 0,
    fontSize: 11,
    fill: 'var(--text-muted)',
    style: { textAnchor: 'middle' },
  }) as const;

export const lengthLabel = ({ format }: Texts, { from, to }: LengthBin) =>
  to === null ? `≥ ${format.bases(from)}` : `${format.bases(from)} – ${format.bases(to)}`;

export function scoreTicks(format: Texts['format']) {
  const domain: [number, number] = [0, 1];
  return { domain, ticks: SCORE_TICKS, tickFormatter: (score: number) => format.decimal(score, 1) };
}

/** Lengths stand at the edges of their bins; the last one is open. */
export function lengthTicks(bins: readonly LengthBin[], { format }: Texts) {
  return {
    ticks: Array.from({ length: bins.length + 1 }, (_, edge) => edge),
    domain: [0, Math.max(1, bins.length)] as [number, number],
    tickFormatter: (edge: number) => {
      const length = bins[edge]?.from ?? bins[edge - 1]?.to ?? null;
      return length === null ? '' : format.compact(length);
    },
  };
}
