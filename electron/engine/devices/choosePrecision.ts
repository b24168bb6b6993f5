/** Chooses the precision of a run: once, for both encoders and all devices. */
import { appError, type AppError, err, ok, type Result } from '../../contract/errors.ts';
import { message, type Message } from '../../contract/messages.ts';
import type { FailedPrecision, Precision } from '../../contract/protocol/index.ts';
import type { ChosenDevice } from './chosenDevice.ts';

const ALL = ['fp8', 'bf16', 'fp16', 'fp32'] as const satisfies readonly Precision[];
/**
 * A GPU uses the first of these that it supports; a GPU that supports one also supports those after it. BF16
 * comes before FP16 because of its range.
 */
const PREFERENCE = ['bf16', 'fp16', 'fp32'] as const;

export function choosePrecision(
  request: 'auto' | Precision,
  devices: readonly ChosenDevice[],
): Result<Precision> {
  if (request === 'auto') return automatic(devices);
  const unable = devices.find((device) => !canDo(device, request));
  if (unable === undefined) return ok(request);
  return err(unsupported(unable, request));
}

/** If the processor fails, no other device is left to compute on. */
const TRY_PROCESSOR_AGAIN =
  'Let the computer check, or "virnucpro doctor", try it again. If it fails again, choose a Python with another PyTorch, ' +
  'under Settings or with --python.';

const withoutIt = (others: string): string =>
  others === '' ? 'Leave this device out.' : `Choose ${others}, or leave this device out.`;

function unsupported(device: ChosenDevice, precision: Precision): AppError {
  const others = possiblePrecisions(device).join(', ');
  const failure = failureOf(device, precision);
  if (failure === undefined) {
    return appError(
      'precision_unsupported',
      `${describe(device)} cannot compute in ${precision}; it can do ${others}.`,
    );
  }
  return appError(
    'precision_unsupported',
    `${describe(device)} failed the test computation in ${precision}: ${failure.problem}`,
    {
      nextStep:
        device.kind === 'cpu'
          ? TRY_PROCESSOR_AGAIN
          : `${withoutIt(others)} The computer check tries it again.`,
    },
  );
}

/**
 * A remark for users with GPUs of several models, if one of them decides the precision for all. Null if none
 * does.
 */
export function precisionRemark(precision: Precision, devices: readonly ChosenDevice[]): Message | null {
  const preferred = devices.map(preferredPrecision);
  const best = PREFERENCE.find((each) => preferred.includes(each)) ?? 'fp32';
  const weakest = devices.find((device) => !canDo(device, best));
  if (precision === 'bf16' && devices.length > 0 && devices.every(({ kind }) => kind === 'cpu'))
    return message('note.processor_bf16');
  if (best === precision || weakest === undefined) return null;
  return message(precision === 'fp32' ? 'note.weakest_slows' : 'note.weakest_decides', {
    gpu: describe(weakest),
    best: best.toUpperCase(),
    precision: precision.toUpperCase(),
  });
}

/**
 * For `auto`: returns the GPUs that are fast in half precision, without those that would make them all
 * compute in FP32: this costs several times more speed than such a GPU adds. A run that computes in FP32
 * anyway uses all of them.
 */
export function withoutOldGpus(
  request: 'auto' | Precision,
  devices: readonly ChosenDevice[],
): { devices: ChosenDevice[]; old: ChosenDevice[] } {
  const fast = devices.filter((device) => preferredPrecision(device) !== 'fp32');
  if (request === 'fp32' || fast.length === 0) return { devices: [...devices], old: [] };
  return { devices: fast, old: devices.filter((device) => !fast.includes(device)) };
}

/** A remark about GPUs that were left out because of their age. Null if there were none. */
export function oldGpusRemark(old: readonly ChosenDevice[]): Message | null {
  return old.length === 0 ? null : message('note.old_gpu_left_out', { gpus: old.map(describe).join('; ') });
}

/**
 * Starts with what the least able device prefers. The others support it too, unless one failed at it: then it
 * is the next one that all support.
 */
function automatic(devices: readonly ChosenDevice[]): Result<Precision> {
  const preferred = devices.map(preferredPrecision);
  const wanted = PREFERENCE.findLast((each) => preferred.includes(each)) ?? 'fp32';
  const shared = PREFERENCE.slice(PREFERENCE.indexOf(wanted)).find((precision) =>
    devices.every((device) => canDo(device, precision)),
  );
  if (shared !== undefined) return ok(shared);
  const unable = devices.find((device) => !canDo(device, 'fp32'));
  return unable ? err(unsupported(unable, 'fp32')) : ok('fp32');
}

/** What a device would use if it computed alone, because its hardware is fast in it. */
export function preferredPrecision(device: ChosenDevice): Precision {
  const order = device.kind === 'cpu' ? device.precisions : PREFERENCE;
  return order.find((precision) => canDo(device, precision)) ?? 'fp32';
}

const failureOf = (device: ChosenDevice, precision: Precision): FailedPrecision | undefined =>
  device.failed?.find((failure) => failure.precision === precision);

function canDo(device: ChosenDevice, precision: Precision): boolean {
  return device.precisions.includes(precision) && failureOf(device, precision) === undefined;
}

/** The precisions that a device is offered for. */
export function possiblePrecisions(device: ChosenDevice): Precision[] {
  return ALL.filter((precision) => canDo(device, precision));
}

function describe(device: ChosenDevice): string {
  switch (device.kind) {
    case 'cuda':
      return `GPU ${device.index} (${device.name}, compute capability ${device.capability.join('.')})`;
    case 'mps':
      return 'The Apple GPU';
    case 'cpu':
      return 'The processor';
  }
}
