import { formatBytes } from './formatBytes.ts';

export interface Measures {
  utilizationPercent: number | null;
  memoryBytes: number | null;
  powerW: number | null;
  residuesPerSecond: number | null;
}

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** Measures of a device in one line; what was not measured is left out. */
export function measureWords({
  utilizationPercent,
  memoryBytes,
  powerW,
  residuesPerSecond,
}: Measures): string {
  const words = [
    ...(residuesPerSecond === null ? [] : [`${whole.format(residuesPerSecond)} residues/s`]),
    ...(utilizationPercent === null ? [] : [`${whole.format(utilizationPercent)} % busy`]),
    ...(memoryBytes === null ? [] : [formatBytes(memoryBytes)]),
    ...(powerW === null ? [] : [`${whole.format(powerW)} W`]),
  ];
  return words.join(', ') || 'nothing measured';
}
