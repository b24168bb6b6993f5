/** Resolves what the user wrote (`auto`, `cpu:3`, `0,1`, UUIDs) to the devices of a run. */
import {
  appError,
  causeOf,
  nextStepOf,
  type AppError,
  err,
  ok,
  type Result,
  failWith,
} from '../../contract/errors.ts';
import { message, type Message } from '../../contract/messages.ts';
import { said, toldOf } from '../../contract/problems.ts';
import { canCompute, isSplit, type ProbedGpu, type ProbeResult } from '../../contract/protocol/index.ts';
import type { CpuMemory } from '../../contract/model.ts';
import { blockedGpu, gpuDevice, type ChosenDevice } from './chosenDevice.ts';

interface SelectionOptions {
  /** Limits the number of workers that `cpu` and `auto` start. */
  readonly cpuMemory: CpuMemory;
}

const MOST_CPU_WORKERS = 256;
/** The share of the free main memory that CPU workers may use if the user sets no number. */
const MEMORY_SHARE = 0.9;

export function selectDevices(
  text: string,
  probe: ProbeResult,
  options: SelectionOptions,
): Result<ChosenDevice[]> {
  const wanted = text.trim().toLowerCase();
  if (isAutomatic(wanted)) return automatic(wanted, probe, options);
  if (wanted === 'mps') return appleGpu(probe);
  if (/^cpu(:|$)/.test(wanted)) return processor(wanted, probe, options);
  return chosenGpus(text, probe);
}

/** `auto`, or `auto:4` with the number of CPU workers to use if no GPU computes. */
export const isAutomatic = (text: string): boolean => /^auto(:\d+)?$/.test(text.trim().toLowerCase());

function automatic(wanted: string, probe: ProbeResult, options: SelectionOptions): Result<ChosenDevice[]> {
  const gpus = probe.gpus.filter((gpu) => gpu.visible && canCompute(gpu));
  if (gpus.length > 0) return ok(gpus.map(gpuDevice));
  const apple = appleGpu(probe);
  return apple.ok && fitsAppleGpu(probe, options)
    ? apple
    : processor(wanted.replace('auto', 'cpu'), probe, options);
}

/**
 * Whether a Mac has room for the encoders on its GPU. It shares the main memory, of which Metal lends some two
 * thirds, with all else; workers on the processor need only a layer at a time.
 */
const fitsAppleGpu = ({ cpu }: ProbeResult, { cpuMemory }: SelectionOptions): boolean =>
  cpuMemory.sharedBytes <= cpu.memory_total_bytes / 2;

const LEFT_OUT_BESIDE_OTHERS: ReadonlySet<ProbedGpu['blocked_by']> = new Set([
  'architecture',
  'driver',
  'trial',
]);

/**
 * A remark about a GPU that is present but not used by default: the processor computes instead, or PyTorch
 * can't use this one of several. Null if there is none.
 */
export function leftOutRemark(
  text: string,
  probe: ProbeResult,
  chosen: readonly ChosenDevice[],
): Message | null {
  if (!isAutomatic(text)) return null;
  const others = chosen.some(({ kind }) => kind !== 'cpu');
  if (probe.apple_mps && !others)
    return message('note.apple_by_memory', { total: gigabytes(probe.cpu.memory_total_bytes) });
  const cards = probe.gpus.filter(
    (gpu) => gpu.visible && (!others || LEFT_OUT_BESIDE_OTHERS.has(gpu.blocked_by)),
  );
  const blocked = cards.map((gpu) => blockedGpu(gpu, describe(gpu))).find((error) => error !== null);
  if (!blocked) return null;
  return message(others ? 'note.gpu_left_out' : 'note.processor_instead', {
    cause: causeOf(blocked),
    next: nextStepOf(blocked),
  });
}

function processor(wanted: string, probe: ProbeResult, options: SelectionOptions): Result<ChosenDevice[]> {
  if (wanted === 'cpu') return ok(cpuWorkers(fittingCpuWorkers(probe, options), probe));
  const count = /^cpu:(\d+)$/.exec(wanted)?.[1];
  const workers = Number(count);
  if (count === undefined || workers < 1 || workers > MOST_CPU_WORKERS) {
    return failWith(
      'usage',
      `"${wanted}" is not a number of CPU workers: write cpu:1 to cpu:${MOST_CPU_WORKERS}.`,
    );
  }
  return ok(cpuWorkers(workers, probe));
}

function fittingCpuWorkers(probe: ProbeResult, options: SelectionOptions): number {
  const { sharedBytes, perWorkerBytes } = options.cpuMemory;
  const free = probe.cpu.memory_available_bytes * MEMORY_SHARE - sharedBytes;
  return Math.max(1, Math.min(probe.cpu.physical_cores, Math.floor(free / perWorkerBytes)));
}

/** Whether the program chose how many workers the processor has. */
const isOwnNumber = (text: string, chosen: readonly ChosenDevice[]): boolean =>
  !text.includes(':') && chosen.every(({ kind }) => kind === 'cpu');

/**
 * A remark on how many cores compute, and why not all, if the user has given no number. Null if all of them
 * compute, or other devices do.
 */
export function coresRemark(
  text: string,
  { cpu }: ProbeResult,
  chosen: readonly ChosenDevice[],
  { sharedBytes, perWorkerBytes }: CpuMemory,
): Message | null {
  if (chosen.length === 0 || !isOwnNumber(text, chosen)) return null;
  const workers = chosen.length;
  if (workers < cpu.physical_cores) {
    return message('note.cores_by_memory', {
      workers,
      cores: cpu.physical_cores,
      free: gigabytes(cpu.memory_available_bytes),
      shared: gigabytes(sharedBytes),
      each: gigabytes(perWorkerBytes),
    });
  }
  return workers < cpu.logical_cores
    ? message('note.cores_not_threads', { workers, threads: cpu.logical_cores })
    : null;
}

/** The processor's workers that get a part to compute, as the start of each costs a second; a number that was given stays. */
export function workersWithParts(text: string, chosen: ChosenDevice[], parts: number): ChosenDevice[] {
  return isOwnNumber(text, chosen) ? chosen.slice(0, Math.max(1, Math.ceil(parts))) : chosen;
}

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);

function cpuWorkers(count: number, probe: ProbeResult): ChosenDevice[] {
  return Array.from({ length: count }, (_, number) => ({
    kind: 'cpu' as const,
    id: `cpu:${number}`,
    name: probe.cpu.name,
    precisions: probe.cpu.precisions,
    failed: probe.cpu_failed,
  }));
}

function appleGpu(probe: ProbeResult): Result<ChosenDevice[]> {
  if (!probe.apple_mps) return failWith('device_unknown', 'This computer has no Apple GPU.');
  const [name, failed] = [`${probe.cpu.name} GPU`, probe.apple_failed];
  return ok([{ kind: 'mps', id: 'mps', name, precisions: ['fp16', 'fp32'], failed }]);
}

function chosenGpus(text: string, probe: ProbeResult): Result<ChosenDevice[]> {
  const chosen = new Map<string, ChosenDevice>();
  for (const part of text.split(',')) {
    const name = part.trim();
    if (/^(auto|cpu|mps)(:|$)/i.test(name)) {
      return failWith('usage', `"${name}" cannot be combined with other devices.`);
    }
    const gpus = gpusNamed(name, probe);
    if (!gpus.ok) return gpus;
    for (const gpu of gpus.value) chosen.set(gpu.uuid, gpuDevice(gpu));
  }
  return ok([...chosen.values()]);
}

/** The GPU, or the slices of a split GPU, that one item of the list names. */
function gpusNamed(name: string, probe: ProbeResult): Result<ProbedGpu[]> {
  const matches = matchingGpus(name, probe.gpus);
  const [first] = matches;
  if (first === undefined) return err(unknownDevice(name, probe));
  const usable = matches.filter(canCompute);
  if (usable.length === 0) {
    const blocked = blockedGpu(first, describe(first));
    if (blocked) return err(blocked);
    return failWith('device_unknown', `${describe(first)} is in MIG mode but has no slices to compute on.`, {
      nextStep: 'Make MIG slices with nvidia-smi, or switch MIG mode off.',
    });
  }
  const visible = usable.filter((gpu) => gpu.visible);
  if (visible.length > 0) return ok(visible);
  return failWith(
    'device_hidden',
    `${describe(first)} is there, but CUDA_VISIBLE_DEVICES=${probe.cuda_visible_devices ?? ''} hides it.`,
  );
}

function matchingGpus(name: string, gpus: readonly ProbedGpu[]): ProbedGpu[] {
  if (/^cuda$/i.test(name)) return gpus.filter((gpu) => gpu.visible && gpu.blocked_by === null);
  const number = /^(?:cuda:)?(\d+)$/i.exec(name)?.[1];
  if (number !== undefined) return gpus.filter((gpu) => gpu.index === Number(number));
  const wanted = name.toLowerCase();
  if (!/^(gpu|mig)-./.test(wanted)) return [];
  const exact = gpus.filter((gpu) => gpu.uuid.toLowerCase() === wanted);
  const matches = exact.length > 0 ? exact : gpus.filter((gpu) => gpu.uuid.toLowerCase().startsWith(wanted));
  const [only, ...others] = matches;
  if (only === undefined || others.length > 0) return [];
  return isSplit(only) ? [only, ...gpus.filter((gpu) => gpu.parent_uuid === only.uuid)] : [only];
}

function unknownDevice(name: string, probe: ProbeResult): AppError {
  const { gpus, no_gpu_code: reason } = probe;
  return appError(
    'device_unknown',
    `There is no device "${name}". ${reason ? `${toldOf(said(reason, {}))} There is only cpu.` : `There are: ${gpus.map(describe).join('; ')}; and cpu.`}`,
  );
}

function describe(gpu: ProbedGpu): string {
  return `${gpu.parent_uuid === null ? 'GPU' : 'A slice of GPU'} ${gpu.index} (${gpu.name}, ${gpu.uuid})`;
}
