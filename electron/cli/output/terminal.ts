import {
  blockedGpu,
  formatBytes,
  type DeviceReport,
  formatCount,
  formatMeasures,
  formatPercent,
} from '../../engine/index.ts';
import type { ProbedGpu } from '../../contract/protocol/index.ts';

let log: (line: string) => void = () => undefined;

/** From now on, everything printed is logged too. */
export function logTo(write: (line: string) => void): void {
  log = write;
}

/** Writes to the log only. */
export function toLog(text: string): void {
  log(printable(text));
}

/** Prints lines for people on standard output. */
export function toStandardOutput(text: string): void {
  toLog(text);
  process.stdout.write(`${printable(text)}\n`);
}

export function toStandardError(text: string): void {
  toLog(text);
  process.stderr.write(`${printable(text)}\n`);
}

/**
 * Names of files and sequences come from elsewhere: control characters that would affect the terminal are
 * shown as a question mark.
 */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '?');
}

const LONGEST_CELL = 40;

/**
 * Lines of a table for a terminal; a column whose heading begins with ">" holds numbers and is right-aligned.
 */
export function textTable(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const names = headings.map((heading) => heading.replace(/^>/, ''));
  const cells = [names, ...rows].map((row) => row.map(shortened));
  const widths = names.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return headings[column]?.startsWith('>') ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Names come from files: characters that would move the terminal's cursor are not printed. */
function shortened(cell: string): string {
  const plain = cell.replaceAll(/\p{Cc}/gu, '?');
  return plain.length > LONGEST_CELL ? `${plain.slice(0, LONGEST_CELL - 1)}…` : plain;
}

/** A device's performance in a run, in one line. */
export function deviceLine(device: DeviceReport): string {
  const { busy_share, energy_wh } = device;
  return [
    `${device.name} (${device.id}): ${formatCount(device.parts)} parts`,
    `${formatCount(device.residues)} residues`,
    ...(busy_share === null
      ? []
      : [
          `at work ${formatPercent(busy_share)} of the time${device.kept_busy === false ? ' (less than 80 %)' : ''}`,
        ]),
    formatMeasures({
      residuesPerSecond: device.residues_per_second,
      utilizationPercent: device.utilization_mean_percent,
      memoryBytes: device.memory_peak_bytes,
      powerW: device.power_mean_w,
    }),
    ...(energy_wh === null ? [] : [`${energy_wh.toFixed(1)} Wh`]),
    ...(device.switched_off === null ? [] : [`switched off: ${device.switched_off}`]),
  ].join(', ');
}

/** Describes a GPU of this computer in one line. */
export function gpuLine(gpu: ProbedGpu): string {
  const users = gpu.processes.map(({ name, pid }) => name ?? `process ${pid}`);
  const blocked = blockedGpu(gpu, 'it');
  return [
    `GPU ${gpu.index}`,
    gpu.name,
    `${formatBytes(gpu.memory_free_bytes)} of ${formatBytes(gpu.memory_total_bytes)} free`,
    `compute capability ${gpu.compute_capability.join('.')}`,
    gpu.uuid,
    ...(gpu.visible ? [] : ['hidden by an environment variable']),
    ...(blocked ? [`not usable: ${blocked.cause} ${blocked.nextStep}`] : []),
    ...(users.length > 0 ? [`in use by ${users.join(', ')}`] : []),
  ].join('  ');
}
