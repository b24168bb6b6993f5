import { appError, type AppError, ok, type Result, failWith } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { computesOn, type ClusterChoice } from '../../../contract/cluster.ts';
import {
  residuesPerPart,
  SAMPLE_FROM_PARTS,
  TOKENS_PER_BATCH,
  type Hardware,
  type Plan,
} from '../../../contract/plan.ts';
import type { RunRequest } from '../../../contract/rpc/runs.ts';
import type { Precision } from '../../../contract/protocol/index.ts';
import type { ChosenDevice } from '../../devices/chosenDevice.ts';
import { choosePrecision } from '../../devices/choosePrecision.ts';
import type { PythonEnvironment } from '../../environment/pythonLaunch.ts';

export interface PlannedDevices {
  /** Devices of this computer; none if a cluster provides them. */
  devices: ChosenDevice[];
  /** The kind of device that other computers compute on, if they do. */
  plannedFor: 'cpu' | 'gpu' | null;
}

/** The hardware that determines the sizes of a plan's batches and parts. */
function hardwareOf({ devices, plannedFor }: PlannedDevices): Hardware {
  if (plannedFor !== null) return plannedFor;
  if (devices.some(({ kind }) => kind === 'mps')) return 'apple';
  return devices.every(({ kind }) => kind === 'cpu') ? 'cpu' : 'gpu';
}

/**
 * The sizes and the order of a run's work. The viral share is known, and calls are settled, only if an even
 * sample of everything is computed first; a small run is done before that matters.
 */
export function workOf(
  request: RunRequest,
  choice: PlannedDevices,
  residues: number,
): Pick<Plan, 'tokensPerBatch' | 'residuesPerPart' | 'order'> {
  const hardware = hardwareOf(choice);
  const partSize = request.residuesPerPart ?? residuesPerPart(hardware, residues);
  const isSmall = residues < SAMPLE_FROM_PARTS * partSize;
  const usual = isSmall && (request.until ?? { kind: 'time' }).kind === 'time' ? 'file' : 'sample';
  return {
    tokensPerBatch: request.tokensPerBatch ?? TOKENS_PER_BATCH[hardware],
    residuesPerPart: partSize,
    order: request.order ?? usual,
  };
}

/**
 * The precision of a run, which all its devices have to support. A cluster's devices are not known yet: one
 * that does not support it is switched off when it joins, with a message.
 */
export function precisionOf(wanted: 'auto' | Precision, choice: PlannedDevices): Result<Precision> {
  if (choice.plannedFor === null) return choosePrecision(wanted, choice.devices);
  const usual = hardwareOf(choice) === 'cpu' ? 'fp32' : 'bf16';
  if (wanted === 'auto' || wanted === usual) return ok(usual);
  const cause =
    wanted === 'fp8'
      ? 'FP8 has to be checked on the GPU that computes in it, which a cluster does not allow.'
      : 'Processors cannot compute in fp16; those with AMX or AVX512-BF16 can do bf16.';
  if (wanted === 'fp8' || (wanted === 'fp16' && usual === 'fp32'))
    return failWith('precision_unsupported', cause, { nextStep: 'Choose another precision.' });
  return ok(wanted);
}

/**
 * Why tasks that get GPUs could not use them: they run the Python environment of this computer, and one that
 * was set up without a GPU has a PyTorch for processors. Nobody should learn that after hours in a queue.
 * Null if no problem is known.
 */
export function withoutGpus(
  cluster: ClusterChoice,
  { packages }: Pick<PythonEnvironment, 'packages'>,
  own = ownCommand(undefined),
): AppError | null {
  if (computesOn(cluster) === 'cpu' || !packages['torch']?.endsWith('+cpu')) return null;
  // Where the nodes have their own program, they have their own Python.
  if (own.length === 1 || (cluster.kind === 'slurm' && !cluster.script.includes(own.at(-1) ?? '')))
    return null;
  return appError('device_blocked', message('cluster.pytorch'));
}

/**
 * The words that start this very program on another computer, with the same settings and the same Python. Nodes
 * have no desktop for the app: they need a `virnucpro` of their own.
 */
export function ownCommand(interpreter: string | undefined): string[] {
  const [, script] = process.argv;
  if ('electron' in process.versions || script === undefined) return ['virnucpro'];
  const settings = Object.entries(process.env).filter(([name]) => name.startsWith('VIRNUCPRO_'));
  const python = interpreter === undefined ? [] : [['VIRNUCPRO_PYTHON', interpreter] as const];
  const variables = new Map([...settings, ...python]);
  return [
    'env',
    ...[...variables].map(([name, value]) => `${name}=${value}`),
    ...[process.execPath, ...process.execArgv, script],
  ];
}
