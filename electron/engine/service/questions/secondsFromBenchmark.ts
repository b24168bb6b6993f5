import { TOKENS_PER_BATCH } from '../../../contract/plan.ts';
import type { ChosenDevice } from '../../devices/chosenDevice.ts';
import { rowNearest, type KeptSpeed } from '../../devices/selfTest/speedLevel.ts';
import type { SecondsRange } from './runSpeeds.ts';

/** Residues of a frame of a 500-bp chunk, with which the benchmark measures DNABERT-S. */
const RESIDUES_OF_A_FRAME = 166;
/**
 * Workers of one processor share its clock and memory: on 16 cores, 16 of them reached 73 % (BF16) and 80 %
 * (FP32) of sixteen times the measured speed of a single worker.
 */
const SHARE_BESIDE_OTHERS = 0.76;
/** Uncertainty from reading files, writing, other programs and heat. */
const DOUBT = 0.3;

/**
 * Seconds that both encoders of the published sizes take together; null if a device was not measured in this
 * precision.
 */
export function secondsFromBenchmark(
  residues: number,
  devices: readonly Pick<ChosenDevice, 'kind' | 'name'>[],
  precision: string,
  { devices: measured }: Pick<KeptSpeed, 'devices'>,
): SecondsRange | null {
  if (devices.length === 0) return null;
  const besideOthers = devices.filter(({ kind }) => kind === 'cpu').length > 1 ? SHARE_BESIDE_OTHERS : 1;
  let rate = 0;
  for (const { kind, name } of devices) {
    const row = measured
      .filter((one) => one.name === name && one.report?.precision === precision)
      // A run uses this batch size, whichever was the fastest.
      .map((one) =>
        rowNearest(one, TOKENS_PER_BATCH[kind === 'mps' ? 'apple' : kind === 'cpu' ? 'cpu' : 'gpu']),
      )
      .find((found) => found !== null);
    if (!row) return null;
    const secondsPerResidue =
      1 / row.esm2_residues_per_second + 1 / (RESIDUES_OF_A_FRAME * row.dnabert_s_frames_per_second);
    rate += (kind === 'cpu' ? besideOthers : 1) / secondsPerResidue;
  }
  if (!(rate > 0)) return null;
  const seconds = residues / rate;
  return { low: seconds * (1 - DOUBT), high: seconds * (1 + DOUBT) };
}
