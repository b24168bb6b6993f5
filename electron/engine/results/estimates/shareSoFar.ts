import type { ShareSoFar, ViralShares } from '../../../contract/rpc/runs.ts';
import type { SampleDetails } from '../../../contract/sampleSheet.ts';
import type { ShareEstimate } from '../../../contract/shareEstimate.ts';
import { estimateShare, type Stratum } from './viralShare.ts';

/** The estimate for the whole run when so much of its chunks was computed. */
export type CurvePoint = ShareEstimate & { fraction: number };

/** What run.db knows about the viral share while a run grows. */
export interface ViralSoFar {
  /** Whether chunks are computed as an even sample of all inputs that grows. */
  isSample: boolean;
  /**
   * In the order of the run. `isSampled`: its first round is computed, so what is known is a sample of all of
   * it; of an input that can't be read to its end nothing more comes.
   */
  inputs: { isSampled: boolean; strata: Stratum[] }[];
  curve: CurvePoint[];
}

/**
 * For the run and each of its samples: the counts so far, and the share that the finished run will show.
 * `samples` holds the sample of each input, and `details` what is known of it.
 */
export function sharesSoFar(
  { isSample, inputs, curve }: ViralSoFar,
  samples: readonly string[],
  details: readonly SampleDetails[] | null = null,
): ViralShares {
  const bySample = Map.groupBy(inputs.entries(), ([input]) => samples[input] ?? '');
  return {
    isSample,
    run: shareOf(inputs, isSample),
    samples: [...bySample].map(([sample, own]) => ({
      sample,
      control: own.some(([input]) => details?.[input]?.control),
      ...shareOf(
        own.map(([, input]) => input),
        isSample,
      ),
    })),
    curve,
  };
}

function shareOf(inputs: ViralSoFar['inputs'], isSample: boolean): ShareSoFar {
  const strata = inputs.flatMap((input) => input.strata);
  const sum = (value: (stratum: Stratum) => number): number =>
    strata.reduce((total, stratum) => total + value(stratum), 0);
  // For sequences of one chunk, the share of chunks is that of sequences.
  const unit = strata.every(({ sequences }) => [...sequences.keys()].every((chunks) => chunks === 1))
    ? 'sequences'
    : 'chunks';
  return {
    unit,
    viral: sum(({ viral }) => viral),
    scored: sum(({ scored }) => scored),
    total: sum(({ open }) => open),
    estimate: isSample && inputs.every(({ isSampled }) => isSampled) ? estimateShare(strata) : null,
  };
}
