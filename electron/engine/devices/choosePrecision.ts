/** The precision of a run: decided once, for both encoders and all devices. */
import { appError } from '../../contract/errors.ts';
import type { Precision } from '../../contract/protocol/index.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import type { ChosenDevice } from './chosenDevice.ts';

type Capability = readonly [major: number, minor: number];

/** Compute capability from which `auto` takes a precision, because the hardware is fast in it. */
const PREFERRED_FROM: readonly (readonly [Precision, Capability])[] = [
  ['bf16', [8, 0]],
  ['fp16', [7, 0]],
];
/** Compute capability from which a GPU can do a precision at all; a worker refuses by the same numbers
 * (LEAST_CAPABILITY in inference/device.py). Older GPUs than Volta have FP16 numbers, but no faster arithmetic for them. */
export const POSSIBLE_FROM: Readonly<Record<Precision, Capability>> = {
  fp8: [8, 9],
  bf16: [8, 0],
  fp16: [7, 0],
  fp32: [0, 0],
};

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
      `${describe(unable)} cannot compute in ${request}; it can do ${possible(unable).join(', ')}.`,
    ),
  );
}

/** What a user of GPUs of several models should know: one of them decides the precision for all. Null where none does. */
export function precisionRemark(precision: Precision, devices: readonly ChosenDevice[]): string | null {
  const best = automatic([...devices].sort((a, b) => strength(b) - strength(a)).slice(0, 1));
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

function strength(device: ChosenDevice): number {
  return device.kind === 'cuda' ? device.capability[0] * 100 + device.capability[1] : 0;
}

function automatic(devices: readonly ChosenDevice[]): Precision {
  const fitting = PREFERRED_FROM.find(([, from]) =>
    devices.every((device) => device.kind === 'cuda' && atLeast(device.capability, from)),
  );
  return fitting?.[0] ?? 'fp32';
}

function canDo(device: ChosenDevice, precision: Precision): boolean {
  switch (device.kind) {
    case 'cuda':
      return atLeast(device.capability, POSSIBLE_FROM[precision]);
    case 'mps':
      return precision === 'fp32' || precision === 'fp16';
    case 'cpu':
      return precision === 'fp32';
  }
}

function possible(device: ChosenDevice): Precision[] {
  return (Object.keys(POSSIBLE_FROM) as Precision[]).filter((precision) => canDo(device, precision));
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

function atLeast([major, minor]: Capability, [wantedMajor, wantedMinor]: Capability): boolean {
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}
