import { memoryText, type FigureFormat } from '../deviceFigures.ts';
import { createFormats } from '../format.ts';

/**
 * Formats numbers for plain text: terminals, logs, and messages of the engine. These are always in English;
 * the window has the formats of the user's language (contract/format.ts).
 */
export const {
  integer: formatCount,
  fileSize: formatBytes,
  rate: formatRate,
  duration: formatDuration,
  durationRange: formatDurationRange,
} = createFormats('en-US');

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
