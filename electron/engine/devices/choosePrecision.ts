/** The precision of a run: decided once, for both encoders and all devices. */
import { appError } from '../../contract/errors.ts';
import type { Precision } from '../../contract/protocol/index.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import { isGpu, type ChosenDevice } from './chosenDevice.ts';

const ALL = ['fp8', 'bf16', 'fp16', 'fp32'] as const satisfies readonly Precision[];
/** A GPU takes the first of these that it can do; whatever can do one can do those after it. BF16 goes before FP16 for its
 * range: the matrix units of AMD's MI200 lose the smallest FP16 numbers. */
const PREFERENCE = ['bf16', 'fp16', 'fp32'] as const;

export function choosePrecision(
  request: 'auto' | Precision,
  devices: readonly ChosenDevice[],
): Result<Precision> {
  if (request === 'auto') return ok(automatic(devices));
  const unable = devices.find((device) => !canDo(device, request));
  if (unable === undefined) return ok(request);
  return err(
    appError(
      'precision_unsupported',
      `${describe(unable)} cannot compute in ${request}; it can do ${possiblePrecisions(unable).join(', ')}.`,
    ),
  );
}

/** What a user of GPUs of several models should know: one of them decides the precision for all. Null where none does. */
export function precisionRemark(precision: Precision, devices: readonly ChosenDevice[]): string | null {
  const preferred = devices.map(preferredPrecision);
  const best = PREFERENCE.find((each) => preferred.includes(each)) ?? 'fp32';
  const weakest = devices.find((device) => !canDo(device, best));
  if (best === precision || weakest === undefined) return null;
  const slow =
    precision === 'fp32'
      ? ' The others are several times slower in it: leaving this one out may be faster.'
      : '';
  return (
    `${describe(weakest)} cannot compute in ${best.toUpperCase()}, ` +
    `so all devices of this run compute in ${precision.toUpperCase()}.${slow}`
  );
}

/** What the least able device prefers: the others can do it too. */
function automatic(devices: readonly ChosenDevice[]): Precision {
  const preferred = devices.map(preferredPrecision);
  return PREFERENCE.findLast((each) => preferred.includes(each)) ?? 'fp32';
}

/** What a device by itself would take, because the hardware is fast in it. */
export function preferredPrecision(device: ChosenDevice): Precision {
  return isGpu(device) ? (PREFERENCE.find((precision) => canDo(device, precision)) ?? 'fp32') : 'fp32';
}

function canDo(device: ChosenDevice, precision: Precision): boolean {
  switch (device.kind) {
    case 'cuda':
    case 'rocm':
      return device.precisions.includes(precision);
    case 'mps':
      return precision === 'fp32' || precision === 'fp16';
    case 'cpu':
      return precision === 'fp32';
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
