/**
 * Sets this computer up: installs the Python environment, from the network or from a folder, and runs a test
 * computation on every device.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { appError, err, ok, type Result } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { GpuKind, StepProgress } from '../../contract/rpc/computer.ts';
import { checkDevicesOnce, type Trial } from '../devices/check/trial.ts';
import { probeDevices } from '../devices/probeDevices.ts';
import { checkEnvironment } from '../environment/checkEnvironment.ts';
import { ensureEnvironment, type EnvironmentRequest } from '../environment/ensureEnvironment.ts';
import {
  choosePyTorch,
  choosePyTorchFor,
  gpuKindOf,
  servesAs,
} from '../environment/install/choosePyTorch.ts';
import { describeFailure, installerFailure } from '../environment/install/failures.ts';
import { uvCache } from '../environment/install/uv.ts';
import { lookAtMachine } from '../environment/machine.ts';
import { scrubbedEnvironment, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { readStamp } from '../environment/requirements.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { Steps } from '../environment/steps.ts';
import { weightsFolder } from '../models/modelFolder.ts';
import {
  copyLargeFile,
  PLACES,
  readOfflineManifest,
  unfitFor,
  verifyOfflineFolder,
  withoutNetwork,
  type OfflineManifest,
} from './offlineFolder.ts';

interface SetUpRequest extends Omit<EnvironmentRequest, 'steps'> {
  /** A folder that `packOffline` has written, used instead of the network. */
  readonly from?: string | undefined;
  /** Tests the devices even if nothing has changed. */
  readonly tryDevices?: boolean | undefined;
  /** Not called if everything is in place already; its last call reports the end. */
  readonly onProgress?: (progress: StepProgress) => void;
}

interface SetUpOutcome {
  readonly environment: PythonEnvironment;
  /** What each device computed; null if nothing has changed since the last test. */
  readonly devices: readonly Trial[] | null;
  /** Sentences that the user should know. */
  readonly remarks: readonly string[];
}

/** The expected steps until the real ones are known: Python, packages, and the check that they work. */
const STEPS_OF_ENVIRONMENT = 3;

export async function setUp(
  request: SetUpRequest,
  run: CommandRunner = runCommand,
): Promise<Result<SetUpOutcome>> {
  const { paths, signal, onProgress = () => undefined } = request;
  const steps = new Steps(onProgress, STEPS_OF_ENVIRONMENT);
  const interrupted = appError('python_broken', 'Setting up was interrupted.', {
    nextStep: 'Start again: it goes on where it stopped.',
  });
  const work = request.from === undefined ? fromNetwork : fromFolder;
  const result = await work(request, run, steps).catch((reason: unknown) =>
    err(describeFailure(reason, { folder: paths.dataDir, signal, interrupted })),
  );
  steps.finish(result.ok ? null : result.error);
  return result;
}

async function fromNetwork(
  request: SetUpRequest,
  run: CommandRunner,
  steps: Steps,
): Promise<Result<SetUpOutcome>> {
  steps.later = 1;
  const environment = await ensureEnvironment({ ...request, steps }, run);
  if (!environment.ok) return environment;
  const remarks = environment.value.own
    ? await remarksOnPyTorch(request, run)
    : request.gpu === undefined
      ? []
      : ['Nothing is installed into an interpreter of yours: install the PyTorch for those GPUs yourself.'];
  return finish(request, run, steps, { environment: environment.value, remarks, changed: steps.number > 0 });
}

async function fromFolder(
  request: SetUpRequest,
  run: CommandRunner,
  steps: Steps,
): Promise<Result<SetUpOutcome>> {
  const folder = resolve(request.from ?? '');
  const { paths, signal, env = process.env } = request;
  const checked = await checkFolder(folder, request, run, steps);
  if (!checked.ok) return checked;
  const { manifest, gpu, remarks } = checked.value;
  const cache = uvCache(paths);
  try {
    const before = steps.number;
    const isThere = gpu === undefined && (await checkEnvironment(request, false, run)).ok;
    if (!isThere || request.repair === true) {
      await mkdir(cache, { recursive: true });
      const args = ['-xzf', `./${PLACES.packages}`, '-C', cache];
      const unpacked = await run({ file: 'tar', args, cwd: folder, env: scrubbedEnvironment(env), signal });
      if (unpacked.ending !== 'succeeded') return err(installerFailure(unpacked));
    }
    const environment = await ensureEnvironment(
      { ...request, gpu, env: withoutNetwork(manifest, env), steps },
      run,
    );
    if (!environment.ok) return environment;
    const changed = steps.number > before;
    await copyWeights(folder, manifest, request, steps);
    return await finish(request, run, steps, { environment: environment.value, remarks, changed });
  } finally {
    await rm(cache, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

/** Reports if the installed build is not the one for this computer, or for the GPUs that were requested. */
async function remarksOnPyTorch(request: SetUpRequest, run: CommandRunner): Promise<string[]> {
  const stamp = await readStamp(request.paths.environmentFolder);
  const machine = request.machine ?? (await lookAtMachine(run, request.env ?? process.env));
  const wanted = choosePyTorchFor(machine, stamp?.gpu ?? null);
  const build = stamp?.torchBuild ?? null;
  if (wanted === null || build === null || build === wanted.build) return [];
  return [
    servesAs(build, wanted)
      ? `PyTorch (${build}) is installed instead of PyTorch (${wanted.build}), which could not be fetched. It takes more room, and computes on processors as well.`
      : `PyTorch (${build}) is installed; PyTorch (${wanted.build}) fits better. ${wanted.reason} To install it: virnucpro setup --repair`,
  ];
}

/** Runs a computation on every device and compares the results: only then is the computer ready. */
async function finish(
  request: SetUpRequest,
  run: CommandRunner,
  steps: Steps,
  made: Pick<SetUpOutcome, 'environment' | 'remarks'> & { changed: boolean },
): Promise<Result<SetUpOutcome>> {
  const { environment, remarks } = made;
  if (!made.changed && request.tryDevices !== true) return ok({ environment, devices: null, remarks });
  steps.later = 0;
  steps.begin(message('step.devices'), { left: 0 });
  const probe = await probeDevices(environment, run);
  // A broken driver is not a fault of the environment; the computer check reports it.
  if (!probe.ok) return ok({ environment, devices: null, remarks: [...remarks, probe.error.cause] });
  const devices = await checkDevicesOnce({ paths: request.paths, environment }, probe.value, run);
  return ok({ environment, devices, remarks });
}

async function checkFolder(
  folder: string,
  request: SetUpRequest,
  run: CommandRunner,
  steps: Steps,
): Promise<Result<{ manifest: OfflineManifest; gpu: GpuKind | undefined; remarks: string[] }>> {
  const read = await readOfflineManifest(folder);
  if (!read.ok) return read;
  const manifest = read.value;
  const machine = request.machine ?? (await lookAtMachine(run, request.env ?? process.env));
  const unfit = await unfitFor(machine, manifest, request.paths);
  if (unfit) return err(unfit);
  const total = manifest.files.reduce((sum, { size }) => sum + size, 0);
  steps.later = manifest.models.length > 0 ? 2 : 1;
  steps.begin(message('step.folder'), { bytes: total, left: STEPS_OF_ENVIRONMENT });
  const verified = await verifyOfflineFolder(folder, manifest, steps.more, request.signal);
  if (!verified.ok) return verified;
  const { torchBuild } = manifest;
  const fitting = choosePyTorch(machine);
  const stamp = await readStamp(request.paths.environmentFolder);
  const gpu =
    choosePyTorchFor(machine, stamp?.gpu ?? null)?.build === torchBuild ? undefined : gpuKindOf(torchBuild);
  if (fitting.build === torchBuild) return ok({ manifest, gpu, remarks: [] });
  const remark = `This folder has PyTorch for ${torchBuild}; for this computer, ${fitting.build} fits better. ${fitting.reason}`;
  return ok({ manifest, gpu, remarks: [remark] });
}

/** Copies the description of a model last: without it, the model does not count as present. */
async function copyWeights(
  folder: string,
  { files, models }: OfflineManifest,
  { paths, signal }: SetUpRequest,
  steps: Steps,
): Promise<void> {
  if (models.length === 0) return;
  const place = `${PLACES.weights}/`;
  const weights = files
    .filter(({ path }) => path.startsWith(place))
    .toSorted((a, b) => Number(a.path.endsWith('/model.json')) - Number(b.path.endsWith('/model.json')));
  steps.later = 1;
  steps.begin(message('step.weights'), { bytes: weights.reduce((sum, { size }) => sum + size, 0), left: 0 });
  for (const { path } of weights) {
    const target = join(weightsFolder(paths), path.slice(place.length));
    await copyLargeFile(join(folder, path), target, steps.more, signal);
  }
}
