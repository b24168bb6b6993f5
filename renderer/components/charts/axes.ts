import type { Texts } from '../../i18n/index.ts';

/** Sizes, axes and labels that all plots share. */

export const HEIGHT = 260;
export const AXIS = { tick: { fontSize: 11, fill: 'var(--text-muted)' }, tickLine: false } as const;
export const BASE_LINE = { stroke: 'var(--line-strong)' };
export const NUMBERS_BELOW = { tickLine: BASE_LINE, axisLine: BASE_LINE, type: 'number' } as const;
export const MARGIN = { top: 16, right: 14, bottom: 12, left: 12 };
export const COUNT_AXIS_PX = 52;
export const SHARE_TICKS = [0, 0.25, 0.5, 0.75, 1];

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

export function scoreTicks(format: Texts['format']) {
  const domain: [number, number] = [0, 1];
  return {
    domain,
    ticks: [0, 0.2, 0.4, 0.6, 0.8, 1],
    tickFormatter: (score: number) => format.decimal(score, 1),
  };
}

/** Ticks at 0, at a round number of at least `most`, and halfway between. */
export function countTicks(most: number, format: Texts['format']) {
  const top = niceTop(most);
  const domain: [number, number] = [0, top];
  return { domain, ticks: [0, top / 2, top], tickFormatter: format.compact };
}

/** The smallest 1, 2, 4, 6 or 10 times a power of ten that is at least the value, so that half of it is round too. */
export function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  const factor = [1, 2, 4, 6, 10].find((step) => step * power >= value) ?? 10;
  return Math.max(2, factor * power);
}
