import { memoryText, type FigureFormat } from '../deviceFigures.ts';
import { createFormats } from '../format.ts';

/**
 * Formats numbers for plain text: terminals, logs, and messages of the engine. These are always in English;
 * the window has the formats of the user's language (contract/format.ts).
 */
export const { integer: formatCount, fileSize: formatBytes, rate: formatRate } = createFormats('en-US');

/** For the figures of a device, which a window shows too. */
export const TERMINAL_FIGURES: FigureFormat = {
  integer: formatCount,
  decimal: (value) => value.toFixed(1),
  rate: formatRate,
  percent: formatPercent,
  of: (part, whole) => `${part} of ${whole}`,
};

export function formatPercent(fraction: number, digits = 0): string {
  return `${(100 * fraction).toFixed(digits)} %`;
}

/** The two largest units that matter: 45 s, 3 min 20 s, 2 h 5 min. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return both(Math.floor(whole / 60), 'min', whole % 60, 's');
  const minutes = Math.round(whole / 60);
  return both(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
}

function both(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return `${large} ${largeUnit}${small === 0 ? '' : ` ${small} ${smallUnit}`}`;
}

/** An estimate is shown without seconds once it takes minutes. */
export function formatEstimate(seconds: number): string {
  return formatDuration(seconds < 60 ? seconds : 60 * Math.round(seconds / 60));
}

export function formatEstimateRange({ low, high }: { low: number; high: number }): string {
  const [from, to] = [formatEstimate(low), formatEstimate(high)];
  return from === to ? `about ${from}` : `${from} to ${to}`;
}

export interface DeviceMeasures {
  utilizationPercent: number | null;
  memoryBytes: number | null;
  powerW: number | null;
  residuesPerSecond: number | null;
}

/** Measurements of a device in one line; missing ones are omitted. */
export function formatMeasures(measures: DeviceMeasures): string {
  const { utilizationPercent, memoryBytes, powerW, residuesPerSecond } = measures;
  const texts = [
    ...(residuesPerSecond === null ? [] : [`${formatCount(residuesPerSecond)} residues/s`]),
    ...(utilizationPercent === null ? [] : [`${formatPercent(utilizationPercent / 100)} busy`]),
    ...(memoryBytes === null ? [] : [memoryText(memoryBytes, TERMINAL_FIGURES)]),
    ...(powerW === null ? [] : [`${formatCount(powerW)} W`]),
  ];
  return texts.join(', ') || 'nothing measured';
}
