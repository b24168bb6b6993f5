import type { DeviceLive, RunProgress } from './rpc/runs.ts';

/** How a terminal, or a window in its language, writes numbers. */
export interface FigureFormat {
  integer: (value: number) => string;
  /** With one decimal. */
  decimal: (value: number) => string;
  percent: (fraction: number) => string;
  /** Speeds with three significant digits. */
  rate: (value: number) => string;
  /** Such as "14.2 of 16". */
  of: (part: string, whole: string) => string;
}

export type Measured = Pick<
  DeviceLive,
  'utilizationPercent' | 'memoryUsedBytes' | 'memoryTotalBytes' | 'temperatureC' | 'powerW'
>;

/**
 * The part of the run that a device has computed, so that the parts of all devices add up to the run's
 * progress, also while its files are still being read; null until that is known.
 */
export function shareOfRun(
  { residuesDone }: Pick<DeviceLive, 'residuesDone'>,
  { devices, progress }: LiveFigures,
): number | null {
  const ofAll = devices.reduce((sum, device) => sum + device.residuesDone, 0);
  // The progress also counts devices that take no part any more.
  const done = Math.max(ofAll, progress.residues.done);
  return progress.fraction === null ? null : done === 0 ? 0 : (progress.fraction * residuesDone) / done;
}
export interface LiveFigures {
  devices: readonly Pick<DeviceLive, 'residuesDone'>[];
  progress: Pick<RunProgress, 'fraction' | 'residues' | 'prepare'>;
}

/**
 * Converts residues per second to sequences per minute, including sequences without an open reading frame.
 * Null until enough is prepared to estimate it.
 */
export function sequencesPerMinute(
  residuesPerSecond: number | null,
  progress: Pick<RunProgress, 'prepare' | 'residues'> | undefined,
): number | null {
  if (residuesPerSecond === null || !progress || progress.residues.total === 0) return null;
  return (60 * residuesPerSecond * progress.prepare.records) / progress.residues.total;
}

/** A device's measurements in words; null for what it does not measure. */
export function measureTexts(measured: Measured, format: FigureFormat): Record<Measure, string | null> {
  const { utilizationPercent, memoryUsedBytes, memoryTotalBytes, temperatureC, powerW } = measured;
  return {
    load: utilizationPercent === null ? null : format.percent(utilizationPercent / 100),
    memory: memoryUsedBytes === null ? null : memoryText(memoryUsedBytes, format, memoryTotalBytes),
    temperature: temperatureC === null ? null : `${format.integer(temperatureC)} °C`,
    power: powerW === null ? null : `${format.integer(powerW)} W`,
  };
}
export const MEASURES = ['load', 'memory', 'temperature', 'power'] as const;
type Measure = (typeof MEASURES)[number];

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** Memory in use, of the memory that there is if `total` is given. A GB here is 2^30 bytes, as makers of memory count. */
export function memoryText(
  bytes: number,
  { integer, decimal, of }: Pick<FigureFormat, 'integer' | 'decimal' | 'of'>,
  total: number | null = null,
): string {
  if ((total ?? bytes) < GIB) return `${integer(bytes / MIB)} MB`;
  const amount = (each: number) => (each >= 100 * GIB ? integer(each / GIB) : decimal(each / GIB));
  return `${total === null ? amount(bytes) : of(amount(bytes), amount(total))} GB`;
}
