/** Tests whether each device computes, and computes correctly, in each precision that it is offered for. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  inSequence,
  message,
  wordingSchema,
  type Message,
  type Wording,
} from '../../../contract/messages.ts';
import {
  offeredPrecisions,
  precisionSchema,
  type FailedPrecision,
  type ProbeResult,
} from '../../../contract/protocol/index.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import type { PythonEnvironment } from '../../environment/pythonLaunch.ts';
import { runCommand, type CommandRunner } from '../../environment/runCommand.ts';
import { possiblePrecisions } from '../choosePrecision.ts';
import type { ChosenDevice } from '../chosenDevice.ts';
import { CPU_ID, devicesToTest, keep, readKept, testDevice } from './check.ts';

const precisionVerdictSchema = z.object({
  precision: precisionSchema,
  /** The relative difference from the processor's FP32 results; null if nothing was computed. */
  difference: z.number().nullable(),
  allowed: z.number(),
  /** Measured with the small encoder; null if nothing was computed. */
  passes_per_second: z.number().nullable(),
  /** A sentence; null if there is no problem. */
  problem: z.string().nullable(),
  /** Present if the sentence is the engine's own. */
  wording: wordingSchema.optional(),
});
const reportSchema = z.object({ results: z.array(precisionVerdictSchema) });

const deviceVerdictSchema = z.object({
  id: z.string(),
  name: z.string(),
  precisions: z.array(precisionVerdictSchema),
});
export type DeviceVerdict = z.infer<typeof deviceVerdictSchema>;

const keptSchema = z.object({ key: z.string(), devices: z.array(deviceVerdictSchema) });

/** Most of this time is for importing PyTorch from a slow disk and compiling kernels. */
const TIMEOUT_MS = 300_000;

/** Tests the devices, unless they all passed before with the same packages, driver and devices. */
export async function checkDevicesOnce(
  paths: AppPaths,
  environment: PythonEnvironment,
  probe: ProbeResult,
  run: CommandRunner = runCommand,
): Promise<DeviceVerdict[]> {
  const known = await keptVerdicts(paths, environment, probe);
  // A problem may be temporary, such as a GPU without free memory, so it is tested again.
  if (known?.every(({ precisions }) => precisions.every(({ problem }) => problem === null))) return known;
  const devices = await checkDevices(environment, probe, run);
  await keep(paths, 'device', { key: keyOf(environment, probe), devices });
  return devices;
}

/** The results of the last test, unless something that may affect a device's results has changed since. */
async function keptVerdicts(
  paths: AppPaths,
  environment: PythonEnvironment,
  probe: ProbeResult,
): Promise<DeviceVerdict[] | undefined> {
  const kept = await readKept(paths, 'device', keptSchema);
  return kept?.key === keyOf(environment, probe) ? kept.devices : undefined;
}

/**
 * Marks what the devices failed at in the last test, so that no run offers it and no worker fails on it, and
 * orders the processor's precisions by the measured speed.
 */
export async function withLastTest(
  probe: ProbeResult,
  paths: AppPaths,
  environment: PythonEnvironment,
): Promise<ProbeResult> {
  const verdicts = await keptVerdicts(paths, environment, probe);
  const failed = new Map(verdicts?.map((verdict) => [verdict.id, failuresOf(verdict)]));
  const apple = failed.get('mps') ?? [];
  const cpu = failed.get(CPU_ID) ?? [];
  const rates = new Map(
    verdicts
      ?.find(({ id }) => id === CPU_ID)
      ?.precisions.map(({ precision, passes_per_second: rate }) => [precision, rate ?? 0]),
  );
  const bySpeed = probe.cpu.precisions.toSorted(
    (one, other) => (rates.get(other) ?? 0) - (rates.get(one) ?? 0),
  );
  return {
    ...probe,
    cpu: { ...probe.cpu, precisions: bySpeed },
    ...(apple.length > 0 ? { apple_failed: apple } : {}),
    ...(cpu.length > 0 ? { cpu_failed: cpu } : {}),
    gpus: probe.gpus.map((gpu) => {
      const failures = failed.get(gpu.uuid) ?? [];
      if (failures.length === 0) return gpu;
      const marked = { ...gpu, failed: failures };
      return gpu.blocked_by === null && offeredPrecisions(marked).length === 0
        ? { ...marked, blocked_by: 'trial' as const }
        : marked;
    }),
  };
}

/**
 * Leaves out problems that may have passed since: memory that another program used, or a driver that was
 * busy.
 */
function failuresOf({ precisions }: DeviceVerdict): FailedPrecision[] {
  return precisions.flatMap(({ precision, problem, wording }) =>
    problem === null || /out ?of ?memory/i.test(problem) || wording?.key === 'check.computing.no_answer'
      ? []
      : [{ precision, problem }],
  );
}

export async function checkDevices(
  environment: PythonEnvironment,
  probe: ProbeResult,
  run: CommandRunner = runCommand,
): Promise<DeviceVerdict[]> {
  return Promise.all(devicesToTest(probe).map((device) => checkDevice(environment, device, run)));
}

async function checkDevice(
  environment: PythonEnvironment,
  device: ChosenDevice,
  run: CommandRunner,
): Promise<DeviceVerdict> {
  const precisions = possiblePrecisions(device);
  const level = ['device', precisions.join(',')] as const;
  const tested = await testDevice(environment, device, level, reportSchema, TIMEOUT_MS, { run });
  const { id, name } = device;
  if (tested.report) return { id, name, precisions: tested.report.results };
  const { text, wording } = tested.lost;
  const lost = { difference: null, allowed: 0, passes_per_second: null, problem: text.trim() };
  return {
    id,
    name,
    precisions: precisions.map((precision) => ({ precision, ...lost, ...(wording ? { wording } : {}) })),
  };
}

/** Identifies everything that may affect a device's results. */
function keyOf(environment: PythonEnvironment, probe: ProbeResult): string {
  const facts = [
    environment.interpreter,
    environment.pythonVersion,
    environment.packages,
    probe.driver_version,
    probe.torch_cuda ?? null,
    devicesToTest(probe).map((device) => [device.id, device.name, possiblePrecisions(device)]),
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

interface Description {
  readonly wrong: boolean;
  readonly sentence: string;
  readonly wordings: Wording[];
}

/** Describes the results in a sentence or two; `wrong` if some result is not correct. */
export function describeVerdicts(devices: readonly DeviceVerdict[]): Description {
  const problems = devices.flatMap(({ name, precisions }) =>
    precisions
      .filter(({ problem }) => problem !== null)
      .map((verdict) =>
        message('check.computing.wrong', {
          device: name,
          precision: verdict.precision.toUpperCase(),
          problem: problemOf(verdict),
        }),
      ),
  );
  if (problems.length > 0) {
    const leaveOut = message('check.computing.leave_out');
    return { wrong: true, ...inSequence([leaveOut, ...withoutRepeats(problems)]) };
  }
  const right = devices.map(({ name, precisions }) =>
    message('check.computing.right', {
      device: name,
      precisions: precisions.map(({ precision }) => precision.toUpperCase()).join(', '),
    }),
  );
  return { wrong: false, ...inSequence(withoutRepeats(right)) };
}

/** Equal GPUs produce the same sentence. */
function withoutRepeats(messages: readonly Message[]): Message[] {
  return [...new Map(messages.map((one) => [one.text, one])).values()];
}

/** The engine's own sentences can be translated; those of a driver stay unchanged. */
function problemOf({
  problem,
  wording,
  difference,
  allowed,
}: DeviceVerdict['precisions'][number]): Message | string {
  if (wording) return { text: problem ?? '', wording };
  if (difference === null || difference <= allowed) return problem ?? '';
  return message('check.computing.differs', { difference: Number(difference.toPrecision(2)), allowed });
}
