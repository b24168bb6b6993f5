/** Whether each device computes, and computes rightly, in each precision that it is offered for. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { message, wordingSchema } from '../../contract/messages.ts';
import {
  offeredPrecisions,
  precisionSchema,
  type FailedPrecision,
  type ProbeResult,
} from '../../contract/protocol/index.ts';
import { parseJson } from '../../contract/parseJson.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { possiblePrecisions } from './choosePrecision.ts';
import { workerEnvironment, type ChosenDevice } from './chosenDevice.ts';
import { selectDevices } from './selectDevices.ts';

const precisionVerdictSchema = z.object({
  precision: precisionSchema,
  /** Relative, from what the processor computes in FP32; null where nothing was computed. */
  difference: z.number().nullable(),
  allowed: z.number(),
  /** Of the small encoder; null where nothing was computed, absent in trials of earlier versions. */
  passes_per_second: z.number().nullable().optional(),
  /** A sentence; null where all is well. */
  problem: z.string().nullable(),
  /** Where it is the engine's own. */
  wording: wordingSchema.optional(),
});
const reportSchema = z.object({ type: z.literal('device_check'), results: z.array(precisionVerdictSchema) });

const deviceVerdictSchema = z.object({
  id: z.string(),
  name: z.string(),
  precisions: z.array(precisionVerdictSchema),
});
export type DeviceVerdict = z.infer<typeof deviceVerdictSchema>;

/** The one processor worker that is tried stands for all. */
const CPU_ID = 'cpu:0';

const storedSchema = z.object({ key: z.string(), devices: z.array(deviceVerdictSchema) });

/** Importing PyTorch from a cold disk and building kernels take most of it. */
const TIMEOUT_MS = 300_000;

/** Tries the devices, unless all was well before with the same packages, driver and devices. */
export async function checkDevicesOnce(
  paths: AppPaths,
  environment: PythonEnvironment,
  probe: ProbeResult,
  run: CommandRunner = runCommand,
): Promise<DeviceVerdict[]> {
  const known = await storedVerdicts(paths, environment, probe);
  // A problem may pass, such as a GPU without room: it is looked at again.
  if (known?.every(({ precisions }) => precisions.every(({ problem }) => problem === null))) return known;
  const devices = await checkDevices(environment, probe, run);
  const key = keyOf(environment, probe);
  const file = verdictsFile(paths);
  await mkdir(dirname(file), { recursive: true })
    .then(() => writeFile(file, `${JSON.stringify({ key, devices }, null, 2)}\n`))
    // It is found out again the next time.
    .catch(() => undefined);
  return devices;
}

const verdictsFile = (paths: AppPaths): string => join(paths.dataDir, 'device-check.json');

/** Of the last trial, where nothing has changed since that may change what a device computes. */
async function storedVerdicts(
  paths: AppPaths,
  environment: PythonEnvironment,
  probe: ProbeResult,
): Promise<DeviceVerdict[] | undefined> {
  const text = await readFile(verdictsFile(paths), 'utf8').catch(() => undefined);
  const stored = parseJson(storedSchema, text);
  return stored?.key === keyOf(environment, probe) ? stored.devices : undefined;
}

/** Marks what the devices failed at in the last trial, so that no run offers it and no worker has to die of it, and puts
 * first what the processor was fastest in. */
export async function withLastTrial(
  probe: ProbeResult,
  paths: AppPaths,
  environment: PythonEnvironment,
): Promise<ProbeResult> {
  const verdicts = await storedVerdicts(paths, environment, probe);
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

/** Without what may have passed since: memory that another program held, or a driver that was busy. */
function failuresOf({ precisions }: DeviceVerdict): FailedPrecision[] {
  return precisions.flatMap(({ precision, problem, wording }) =>
    problem === null || /out ?of ?memory/i.test(problem) || wording?.key === 'check.computing.no_answer'
      ? []
      : [{ precision, problem }],
  );
}

/** The devices that a run takes by itself, and one processor worker. */
export async function checkDevices(
  environment: PythonEnvironment,
  probe: ProbeResult,
  run: CommandRunner = runCommand,
): Promise<DeviceVerdict[]> {
  return Promise.all(devicesToCheck(probe).map((device) => checkDevice(environment, device, run)));
}

/** The GPUs that a run takes by itself, and the processor. */
export function devicesToCheck(probe: ProbeResult): ChosenDevice[] {
  const chosen = selectDevices('auto', probe, { cpuMemory: { sharedBytes: 0, perWorkerBytes: 0 } });
  const devices = chosen.ok ? chosen.value.filter(({ kind }) => kind !== 'cpu') : [];
  return [...devices, { kind: 'cpu', id: CPU_ID, name: probe.cpu.name, precisions: probe.cpu.precisions }];
}

async function checkDevice(
  environment: PythonEnvironment,
  device: ChosenDevice,
  run: CommandRunner,
): Promise<DeviceVerdict> {
  const precisions = possiblePrecisions(device);
  const outcome = await run({
    ...pythonLaunch(
      environment,
      'virnucpro_backend.device_check',
      [device.kind, precisions.join(',')],
      workerEnvironment(device),
    ),
    timeoutMs: TIMEOUT_MS,
  });
  const report = outcome.ending === 'succeeded' ? parseJson(reportSchema, outcome.stdout) : undefined;
  const lost =
    outcome.ending === 'timed_out'
      ? message('check.computing.no_answer')
      : message('check.computing.broke_off', { line: outcome.stderr.trim().split('\n').at(-1) ?? '' });
  return {
    id: device.id,
    name: device.name,
    precisions:
      report?.results ??
      precisions.map((precision) => ({
        precision,
        difference: null,
        allowed: 0,
        problem: lost.text.trim(),
        ...(lost.wording ? { wording: lost.wording } : {}),
      })),
  };
}

/** Whatever may change what a device computes. */
function keyOf(environment: PythonEnvironment, probe: ProbeResult): string {
  const facts = [
    environment.interpreter,
    environment.pythonVersion,
    environment.packages,
    probe.driver_version,
    probe.torch_cuda ?? null,
    devicesToCheck(probe).map((device) => [device.id, device.name, possiblePrecisions(device)]),
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}
