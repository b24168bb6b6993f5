/** Sets this computer up: the Python environment, from the network or from a folder, and a test computation on every device. */
import { chmod, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { appError, asAppError, type AppError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import type { StepProgress } from '../../contract/rpc/computer.ts';
import { checkDevicesOnce, type DeviceVerdict } from '../devices/checkDevices.ts';
import { probeDevices } from '../devices/probeDevices.ts';
import { ensureEnvironment } from '../environment/ensureEnvironment.ts';
import type { EnvironmentRequest } from '../environment/environmentState.ts';
import { choosePyTorch, choosePyTorchFor, servesAs } from '../environment/install/choosePyTorch.ts';
import { findUv, uvFolder } from '../environment/install/uv.ts';
import { lookAtMachine } from '../environment/machine/machine.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { stepReporter, type OtherSteps } from '../environment/stepProgress.ts';
import { readStamp } from '../environment/requirements.ts';
import { weightsFolder } from '../models/weightsFolder.ts';
import { UV_WHEELS, uvFileName } from '../environment/install/uvRelease.ts';
import { hashFile } from '../files/hashFile.ts';
import { copyLargeFile } from './copyFile.ts';
import { unfitFor } from './lookAtFolder.ts';
import {
  PLACES,
  readOfflineManifest,
  sourceIn,
  verifyOfflineFolder,
  type OfflineManifest,
} from './offlineFolder.ts';
import { countedSteps, type CountedSteps } from './countedSteps.ts';

interface SetUpRequest extends Omit<EnvironmentRequest, 'onState' | 'offline'> {
  /** A folder that `packOffline` has written, in place of the network. */
  readonly from?: string | undefined;
  /** Even where nothing has changed. */
  readonly tryDevices?: boolean | undefined;
  /** Not called where all is in place already; its last call says that it is finished. */
  readonly onProgress?: (progress: StepProgress) => void;
}

interface SetUpOutcome {
  readonly environment: PythonEnvironment;
  /** What each device computed; null where nothing has changed since they were tried. */
  readonly devices: readonly DeviceVerdict[] | null;
  /** What one should know, in sentences. */
  readonly remarks: readonly string[];
}

export async function setUp(
  request: SetUpRequest,
  run: CommandRunner = runCommand,
): Promise<Result<SetUpOutcome>> {
  const reporter = new SetUpReporter(request.onProgress ?? (() => undefined));
  const result = await work(request, run, reporter).catch((reason: unknown) => err(inWords(reason, request)));
  reporter.finish(result.ok ? null : result.error);
  return result;
}

/** Folder and packages, as far as it is known before the environment says it. */
const BEFORE = 1;
const STEPS_OF_ENVIRONMENT = 4;

/** Weights and devices. */
function afterwards({ models }: Pick<OfflineManifest, 'models'>): number {
  return models.length > 0 ? 2 : 1;
}

/** Reports the steps of all parts of a set-up under one count. */
class SetUpReporter {
  private readonly onProgress: (progress: StepProgress) => void;
  private latest: StepProgress | undefined;

  constructor(onProgress: (progress: StepProgress) => void) {
    this.onProgress = onProgress;
  }

  readonly report = (progress: StepProgress): void => {
    this.latest = progress;
    this.onProgress(progress);
  };

  first(stepCount: number): CountedSteps {
    return countedSteps(stepCount, this.report);
  }

  /** Numbers the last `remaining` steps, whatever came before. */
  last(remaining: number): CountedSteps {
    const stepCount = this.latest?.stepCount ?? remaining;
    return countedSteps(stepCount, this.report, stepCount - remaining + 1);
  }

  /** Reports nothing if no step was reported. */
  finish(error: AppError | null): void {
    if (this.latest === undefined) return;
    const fraction = error === null ? 1 : this.latest.fraction;
    this.onProgress({ ...this.latest, fraction, finished: true, error });
  }
}

async function work(
  request: SetUpRequest,
  run: CommandRunner,
  reporter: SetUpReporter,
): Promise<Result<SetUpOutcome>> {
  if (request.from === undefined) {
    const environment = await makeEnvironment(request, run, reporter, { before: 0, after: 1 });
    if (!environment.ok) return environment;
    const remarks = environment.value.own
      ? await remarksOnPyTorch(request, run)
      : remarksOnOwnInterpreter(request, environment.value);
    return finish(request, run, reporter, environment.value, remarks);
  }
  const folder = resolve(request.from);
  const checked = await checkFolder(folder, request, run, reporter);
  if (!checked.ok) return checked;
  const { manifest, remarks } = checked.value;
  const tools = join(uvFolder(request.paths), 'from-folder');
  try {
    const source = sourceIn(folder, manifest);
    const own = findUv(request.paths);
    const uv = own === undefined ? await copyUv(source.uv, tools, manifest, request.signal) : ok(own);
    if (!uv.ok) return uv;
    const offline = { ...source, uv: uv.value };
    const others = { before: BEFORE, installing: 1, after: afterwards(manifest) };
    const environment = await makeEnvironment({ ...request, offline }, run, reporter, others);
    if (!environment.ok) return environment;
    await copyWeights(folder, manifest, request, reporter);
    return await finish(request, run, reporter, environment.value, remarks);
  } finally {
    await rm(tools, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

function remarksOnOwnInterpreter(request: SetUpRequest, { interpreter }: PythonEnvironment): string[] {
  const remarks = ['Nothing is installed into an interpreter of yours.'];
  const file = join(request.paths.pythonBackend, 'requirements-ray.txt');
  if (request.withRay === true) remarks.push(`For Ray: ${interpreter} -m pip install -r ${file}`);
  if (request.gpu !== undefined) remarks.push('Install the PyTorch for those GPUs into it yourself.');
  return remarks.length > 1 ? remarks : [];
}

/** Where another build is there than the one for this computer, or for the GPUs that were asked for. */
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

/** The uv of a folder, ready to run, if it is the one that belongs to this program: the folder's own list proves nothing. */
async function copyUv(
  from: string,
  folder: string,
  { platform }: OfflineManifest,
  signal: AbortSignal | undefined,
): Promise<Result<string>> {
  const uv = join(folder, uvFileName(platform));
  await rm(folder, { recursive: true, force: true });
  await copyLargeFile(from, uv, () => undefined, signal);
  if ((await hashFile(uv)) !== UV_WHEELS[platform].program) {
    return err(
      appError('offline_folder_unusable', message('offline.uv'), {
        nextStep: message('offline.version.next'),
      }),
    );
  }
  // Some disks, such as memory sticks, keep no permission to execute, or forbid it.
  await chmod(uv, 0o755);
  return ok(uv);
}

async function makeEnvironment(
  request: Omit<EnvironmentRequest, 'onState'>,
  run: CommandRunner,
  reporter: SetUpReporter,
  others: OtherSteps,
): Promise<Result<PythonEnvironment & { changed: boolean }>> {
  const report = stepReporter(others);
  let changed = false;
  const made = await ensureEnvironment(
    {
      ...request,
      onState: (state) => {
        changed ||= state.state === 'waiting' || state.state === 'creating' || state.state === 'installing';
        if (changed && state.state !== 'ready' && state.state !== 'failed') reporter.report(report(state));
      },
    },
    run,
  );
  return made.ok ? ok({ ...made.value, changed }) : made;
}

/** Every device computes, and what it computes is compared: only then is the computer ready. */
async function finish(
  request: SetUpRequest,
  run: CommandRunner,
  reporter: SetUpReporter,
  { changed, ...environment }: PythonEnvironment & { changed: boolean },
  remarks: readonly string[],
): Promise<Result<SetUpOutcome>> {
  const outcome: SetUpOutcome = { environment, devices: null, remarks };
  if (!changed && request.tryDevices !== true) return ok(outcome);
  reporter.last(1).begin(message('step.devices'));
  const probe = await probeDevices(environment, run);
  // What is wrong with a driver is no fault of the environment; the computer check says it.
  if (!probe.ok) return ok({ ...outcome, remarks: [...remarks, probe.error.cause] });
  const devices = await checkDevicesOnce(request.paths, environment, probe.value, run);
  return ok({ ...outcome, devices });
}

async function checkFolder(
  folder: string,
  request: SetUpRequest,
  run: CommandRunner,
  reporter: SetUpReporter,
): Promise<Result<{ manifest: OfflineManifest; remarks: string[] }>> {
  const read = await readOfflineManifest(folder);
  if (!read.ok) return read;
  const manifest = read.value;
  const machine = request.machine ?? (await lookAtMachine(run, request.env ?? process.env));
  const unfit = await unfitFor(machine, manifest, request.paths);
  if (unfit) return err(unfit);
  const total = manifest.files.reduce((sum, { size }) => sum + size, 0);
  const step = reporter.first(BEFORE + STEPS_OF_ENVIRONMENT + afterwards(manifest));
  step.begin(message('step.folder'), total);
  const whole = await verifyOfflineFolder(folder, manifest, step.more, request.signal);
  if (!whole.ok) return whole;
  const fitting = choosePyTorch(machine);
  const remarks =
    fitting.build === manifest.torchBuild
      ? []
      : [
          `This folder has PyTorch for ${manifest.torchBuild}; for this computer, ${fitting.build} fits better. ${fitting.reason}`,
        ];
  return ok({ manifest, remarks });
}

/** The description of a model goes last: without it, the model isn't there. */
async function copyWeights(
  folder: string,
  { files, models }: OfflineManifest,
  { paths, signal }: SetUpRequest,
  reporter: SetUpReporter,
): Promise<void> {
  if (models.length === 0) return;
  const place = `${PLACES.weights}/`;
  const weights = files
    .filter(({ path }) => path.startsWith(place))
    .toSorted((a, b) => Number(a.path.endsWith('/model.json')) - Number(b.path.endsWith('/model.json')));
  const step = reporter.last(afterwards({ models }));
  step.begin(
    message('step.weights'),
    weights.reduce((sum, { size }) => sum + size, 0),
  );
  for (const { path } of weights) {
    const target = join(weightsFolder(paths), path.slice(place.length));
    await copyLargeFile(join(folder, path), target, step.more, signal);
  }
}

function inWords(reason: unknown, { paths, signal }: SetUpRequest): AppError {
  if (signal?.aborted) {
    return appError('python_broken', 'Setting up was interrupted.', {
      nextStep: 'Start again: it goes on where it stopped.',
    });
  }
  switch (reason instanceof Error ? (reason as NodeJS.ErrnoException).code : undefined) {
    case 'ENOSPC':
      return appError('disk_full', `There is no room in ${paths.dataDir}.`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return appError('folder_unwritable', `${paths.dataDir} cannot be written.`, {
        nextStep: 'Choose a data folder that you may write to under Settings, then start again.',
      });
    default:
      return asAppError(reason);
  }
}
