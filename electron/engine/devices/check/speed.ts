/**
 * Measures how fast each device runs both encoders, compared with its own matrix products. Users can send the
 * figures in, and New run estimates from them until a run has been measured.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { precisionSchema, type Precision, type ProbeResult } from '../../../contract/protocol/index.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import type { PythonEnvironment } from '../../environment/pythonLaunch.ts';
import { preferredPrecision } from '../choosePrecision.ts';
import { withLastTest } from './trial.ts';
import { devicesToTest, keep, readKept, testDevice, type CheckOptions } from './check.ts';

const rowSchema = z.object({
  tokens_per_batch: z.int().positive(),
  esm2_residues_per_second: z.number().nonnegative(),
  dnabert_s_frames_per_second: z.number().nonnegative(),
  /** The rate that the device's matrix products alone would reach. */
  products_residues_per_second: z.number().nonnegative(),
});
type SpeedRow = z.infer<typeof rowSchema>;

/** The report also contains hardware and versions, for the people who receive the figures. */
const reportSchema = z.looseObject({ precision: precisionSchema, rows: z.array(rowSchema) });

const deviceSpeedSchema = z.object({
  id: z.string(),
  name: z.string(),
  report: reportSchema.nullable(),
  /** One sentence that says why the device could not be measured. */
  problem: z.string().nullable(),
});
export type DeviceSpeed = z.infer<typeof deviceSpeedSchema>;

const keptSchema = z.object({
  measuredAt: z.iso.datetime(),
  /** Stored because another version of PyTorch may be faster or slower. */
  packages: z.record(z.string(), z.string()),
  devices: z.array(deviceSpeedSchema),
});
export type KeptSpeed = z.infer<typeof keptSchema>;

/**
 * Time for importing PyTorch, compiling kernels and a last batch on a slow processor, in addition to the
 * requested time.
 */
const BESIDE_MS = 300_000;

/**
 * Measures one device after the other, since they share power and memory; the processor, as one worker, comes
 * last. The figures are stored unless the measurement was stopped.
 */
export async function measureSpeed(
  environment: PythonEnvironment,
  paths: AppPaths,
  probe: ProbeResult,
  seconds: number,
  { onDevice, ...options }: CheckOptions = {},
): Promise<DeviceSpeed[]> {
  const devices = devicesToTest(await withLastTest(probe, paths, environment));
  const measured: DeviceSpeed[] = [];
  for (const [index, device] of devices.entries()) {
    onDevice?.(device.name, index + 1, devices.length);
    const level = ['speed', preferredPrecision(device), '--seconds', String(seconds)] as const;
    const timeoutMs = 1000 * seconds + BESIDE_MS;
    const tested = await testDevice(environment, device, level, reportSchema, timeoutMs, options);
    if (options.signal?.aborted) return measured;
    const { id, name } = device;
    measured.push({
      id,
      name,
      report: tested.report,
      problem: tested.report ? null : tested.lost.text.trim(),
    });
  }
  const { packages } = environment;
  await keep(paths, 'speed', { measuredAt: new Date().toISOString(), packages, devices: measured });
  return measured;
}

/** The last figures, if they were measured with the currently installed packages. */
export async function keptSpeed(environment: PythonEnvironment, paths: AppPaths): Promise<KeptSpeed | null> {
  const kept = await readKept(paths, 'speed', keptSchema);
  return kept && isDeepStrictEqual(kept.packages, environment.packages) ? kept : null;
}

/** The rates for the batch size nearest to a run's; null if the device was not measured. */
export function rowNearest({ report }: Pick<DeviceSpeed, 'report'>, tokensPerBatch: number): SpeedRow | null {
  const distance = (row: SpeedRow): number => Math.abs(Math.log(row.tokens_per_batch / tokensPerBatch));
  return report?.rows.toSorted((a, b) => distance(a) - distance(b))[0] ?? null;
}

/** The rates for the batch size that suits the device best; null if it was not measured. */
export function bestRow({ report }: DeviceSpeed): (SpeedRow & { precision: Precision }) | null {
  const [best] =
    report?.rows.toSorted((a, b) => b.esm2_residues_per_second - a.esm2_residues_per_second) ?? [];
  return report && best ? { ...best, precision: report.precision } : null;
}
