/** The precision of a run: decided once, for both encoders and all devices. */
import { appError, type AppError } from '../../contract/errors.ts';
import { message, type Message } from '../../contract/messages.ts';
import type { FailedPrecision, Precision } from '../../contract/protocol/index.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import type { ChosenDevice } from './chosenDevice.ts';

const ALL = ['fp8', 'bf16', 'fp16', 'fp32'] as const satisfies readonly Precision[];
/** A GPU takes the first of these that it can do; whatever can do one can do those after it. BF16 goes before FP16 for its
 * range: the matrix units of AMD's MI200 lose the smallest FP16 numbers. */
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

/** There is nothing else to compute on. */
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

/** What a user of GPUs of several models should know: one of them decides the precision for all. Null where none does. */
export function precisionRemark(precision: Precision, devices: readonly ChosenDevice[]): Message | null {
  const preferred = devices.map(preferredPrecision);
  const best = PREFERENCE.find((each) => preferred.includes(each)) ?? 'fp32';
  const weakest = devices.find((device) => !canDo(device, best));
  if (precision === 'bf16' && devices.every(({ kind }) => kind === 'cpu'))
    return message('note.processor_bf16');
  if (best === precision || weakest === undefined) return null;
  return message(precision === 'fp32' ? 'note.weakest_slows' : 'note.weakest_decides', {
    gpu: describe(weakest),
    best: best.toUpperCase(),
    precision: precision.toUpperCase(),
  });
}

/** For `auto`: GPUs that are fast in half precision, without those that would make them all compute in FP32, several times slower
 * than any such GPU adds. A run that is to compute in FP32 anyway has them all. */
export function withoutOldGpus(
  request: 'auto' | Precision,
  devices: readonly ChosenDevice[],
): { devices: ChosenDevice[]; old: ChosenDevice[] } {
  const fast = devices.filter((device) => preferredPrecision(device) !== 'fp32');
  if (request === 'fp32' || fast.length === 0) return { devices: [...devices], old: [] };
  return { devices: fast, old: devices.filter((device) => !fast.includes(device)) };
}

/** What a user should know of GPUs that were left out because of their age. Null where none was. */
export function oldGpusRemark(old: readonly ChosenDevice[]): Message | null {
  return old.length === 0 ? null : message('note.old_gpu_left_out', { gpus: old.map(describe).join('; ') });
}

/** What the least able device prefers. The others can do it too, unless one failed at it: then the next that all can do. */
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

/** What a device by itself would take, because the hardware is fast in it. */
export function preferredPrecision(device: ChosenDevice): Precision {
  if (device.kind === 'mps') return 'fp32';
  const order = device.kind === 'cpu' ? device.precisions : PREFERENCE;
  return order.find((precision) => canDo(device, precision)) ?? 'fp32';
}

const failureOf = (device: ChosenDevice, precision: Precision): FailedPrecision | undefined =>
  device.failed?.find((failure) => failure.precision === precision);

function canDo(device: ChosenDevice, precision: Precision): boolean {
  return hasArithmeticFor(device, precision) && failureOf(device, precision) === undefined;
}

function hasArithmeticFor(device: ChosenDevice, precision: Precision): boolean {
  switch (device.kind) {
    case 'cuda':
    case 'rocm':
    case 'cpu':
      return device.precisions.includes(precision);
    case 'mps':
      return precision === 'fp32' || precision === 'fp16';
  }
}

/** What a device is offered for. */
export function possiblePrecisions(device: ChosenDevice): Precision[] {
  return ALL.filter((precision) => canDo(device, precision));
}

function describe(device: ChosenDevice): string {
  switch (device.kind) {
    case 'cuda':
      return `GPU ${device.index} (${device.name}, compute capability ${device.capability.join('.')})`;
    case 'rocm':
      return `GPU ${device.index} (${device.name}, ${device.gfxTarget})`;
    case 'mps':
      return 'The Apple GPU';
    case 'cpu':
      return 'The processor';
  }
}
