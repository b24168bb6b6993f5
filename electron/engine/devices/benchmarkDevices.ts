/** How fast each device runs both encoders, beside its own matrix products: what a user can send in, and what a run is
 * estimated from before any has been measured. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { precisionSchema, type Precision, type ProbeResult } from '../../contract/protocol/index.ts';
import { parseJson } from '../../contract/parseJson.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { devicesToCheck, withLastTrial } from './checkDevices.ts';
import { preferredPrecision } from './choosePrecision.ts';
import { workerEnvironment } from './chosenDevice.ts';

const rowSchema = z.object({
  tokens_per_batch: z.int().positive(),
  esm2_residues_per_second: z.number().nonnegative(),
  dnabert_s_frames_per_second: z.number().nonnegative(),
  /** What the device's matrix products alone would reach. */
  products_residues_per_second: z.number().nonnegative(),
});

type BenchmarkRow = z.infer<typeof rowSchema>;

/** With hardware and versions, which are only passed on. */
const reportSchema = z.looseObject({
  type: z.literal('benchmark'),
  name: z.string(),
  precision: precisionSchema,
  rows: z.array(rowSchema),
});

const deviceBenchmarkSchema = z.object({
  id: z.string(),
  name: z.string(),
  report: reportSchema.nullable(),
  /** The last line of what went wrong; null where the device was measured. */
  problem: z.string().nullable(),
});
export type DeviceBenchmark = z.infer<typeof deviceBenchmarkSchema>;

const keptSchema = z.object({
  measuredAt: z.iso.datetime(),
  /** Another PyTorch may be faster or slower. */
  packages: z.record(z.string(), z.string()),
  devices: z.array(deviceBenchmarkSchema),
});
export type KeptBenchmark = z.infer<typeof keptSchema>;

/** Importing PyTorch, building kernels and a last batch on a slow processor, on top of the time asked for. */
const BESIDE_MS = 300_000;

interface BenchmarkOptions {
  readonly onDevice?: (name: string, number: number, count: number) => void;
  readonly signal?: AbortSignal;
  readonly run?: CommandRunner;
}

/** One device after the other, since they share power and memory; the processor, as one worker, last. The figures are kept
 * unless measuring was given up. */
export async function benchmarkDevices(
  environment: PythonEnvironment,
  paths: AppPaths,
  probe: ProbeResult,
  seconds: number,
  { onDevice, signal, run = runCommand }: BenchmarkOptions = {},
): Promise<DeviceBenchmark[]> {
  const devices = devicesToCheck(await withLastTrial(probe, paths, environment));
  const measured: DeviceBenchmark[] = [];
  for (const [index, device] of devices.entries()) {
    onDevice?.(device.name, index + 1, devices.length);
    const outcome = await run({
      ...pythonLaunch(
        environment,
        'virnucpro_backend.benchmark',
        [device.kind, preferredPrecision(device), '--seconds', String(seconds)],
        workerEnvironment(device),
      ),
      timeoutMs: 1000 * seconds + BESIDE_MS,
      ...(signal ? { signal } : {}),
    });
    if (signal?.aborted) return measured;
    const report = outcome.ending === 'succeeded' ? parseJson(reportSchema, outcome.stdout) : undefined;
    const { id, name } = device;
    measured.push(
      report ? { id, name, report, problem: null } : { id, name, report: null, problem: problemOf(outcome) },
    );
  }
  const { packages } = environment;
  await keep(paths, { measuredAt: new Date().toISOString(), packages, devices: measured });
  return measured;
}

/** What was measured last with the packages that are installed now. */
export async function keptBenchmark(
  environment: PythonEnvironment,
  paths: AppPaths,
): Promise<KeptBenchmark | null> {
  const text = await readFile(benchmarkFile(paths), 'utf8').catch(() => undefined);
  const kept = parseJson(keptSchema, text);
  return kept && isDeepStrictEqual(kept.packages, environment.packages) ? kept : null;
}

/** The rates with the batch size that suits the device best; null where it was not measured. */
export function bestRow({ report }: DeviceBenchmark): (BenchmarkRow & { precision: Precision }) | null {
  const [best] =
    report?.rows.toSorted((a, b) => b.esm2_residues_per_second - a.esm2_residues_per_second) ?? [];
  return report && best ? { ...best, precision: report.precision } : null;
}

const benchmarkFile = (paths: AppPaths): string => join(paths.dataDir, 'benchmark.json');

async function keep(paths: AppPaths, kept: KeptBenchmark): Promise<void> {
  const file = benchmarkFile(paths);
  await mkdir(dirname(file), { recursive: true })
    .then(() => writeFile(file, `${JSON.stringify(kept, null, 2)}\n`))
    // The figures are shown all the same; they can be measured again.
    .catch(() => undefined);
}

function problemOf({ ending, stderr }: Awaited<ReturnType<CommandRunner>>): string {
  if (ending === 'timed_out') return 'It did not answer in time.';
  return stderr.trim().split('\n').at(-1) || 'It gave no figures.';
}
