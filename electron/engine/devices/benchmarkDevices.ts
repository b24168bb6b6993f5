/** How fast each device runs both encoders, beside its own matrix products: what a user can send in. */
import { z } from 'zod';
import { precisionSchema, type ProbeResult } from '../../contract/protocol/index.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { devicesToCheck } from './checkDevices.ts';
import { preferredPrecision } from './choosePrecision.ts';
import { workerEnvironment, type ChosenDevice } from './chosenDevice.ts';

const rowSchema = z.object({
  tokens_per_batch: z.int().positive(),
  esm2_residues_per_second: z.number().nonnegative(),
  dnabert_s_frames_per_second: z.number().nonnegative(),
  /** What the device's matrix products alone would reach. */
  products_residues_per_second: z.number().nonnegative(),
});

/** With hardware and versions, which are only passed on. */
const reportSchema = z.looseObject({
  type: z.literal('benchmark'),
  name: z.string(),
  precision: precisionSchema,
  rows: z.array(rowSchema),
});

export interface DeviceBenchmark {
  id: string;
  name: string;
  report: z.infer<typeof reportSchema> | null;
  /** The last line of what went wrong; null where the device was measured. */
  problem: string | null;
}

/** Importing PyTorch, building kernels and a last batch on a slow processor, on top of the time asked for. */
const BESIDE_MS = 300_000;

/** One device after the other, since they share power and memory; the processor, as one worker, last. */
export async function benchmarkDevices(
  environment: PythonEnvironment,
  probe: ProbeResult,
  seconds: number,
  onDevice: (device: ChosenDevice) => void,
  run: CommandRunner = runCommand,
): Promise<DeviceBenchmark[]> {
  const measured: DeviceBenchmark[] = [];
  for (const device of devicesToCheck(probe)) {
    onDevice(device);
    const outcome = await run({
      ...pythonLaunch(
        environment,
        'virnucpro_backend.benchmark',
        [device.kind, preferredPrecision(device), '--seconds', String(seconds)],
        workerEnvironment(device),
      ),
      timeoutMs: 1000 * seconds + BESIDE_MS,
    });
    const report = outcome.ending === 'succeeded' ? parseJson(reportSchema, outcome.stdout) : undefined;
    const { id, name } = device;
    measured.push(
      report ? { id, name, report, problem: null } : { id, name, report: null, problem: problemOf(outcome) },
    );
  }
  return measured;
}

function problemOf({ ending, stderr }: Awaited<ReturnType<CommandRunner>>): string {
  if (ending === 'timed_out') return 'It did not answer in time.';
  return stderr.trim().split('\n').at(-1) || 'It gave no figures.';
}
