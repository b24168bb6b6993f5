import type { SampleShare, ShareSoFar } from '../../../contract/rpc/runs.ts';
import { estimateShare, type ShareEstimate, type Stratum } from './viralShare.ts';

/** The estimate for the whole run when so much of its frames was computed. */
export type CurvePoint = ShareEstimate & { fraction: number };

/** What run.db knows of the viral share while a run grows. */
export interface ViralSoFar {
  /** Whether chunks are computed as an even sample of all inputs that grows. */
  isSample: boolean;
  /** Whether all inputs are read to their end. */
  isWholeRead: boolean;
  /** In the order of the run. */
  inputs: { isRead: boolean; strata: Stratum[] }[];
  curve: CurvePoint[];
}

/** For the run and each of its samples: how much is known, and the share that the finished run will show. `samples` names that of
 * each input. */
export function sharesSoFar(
  { isSample, isWholeRead, inputs, curve }: ViralSoFar,
  samples: readonly string[],
): { run: ShareSoFar; samples: SampleShare[]; curve: CurvePoint[] } {
  const bySample = Map.groupBy(inputs.entries(), ([input]) => samples[input] ?? '');
  return {
    run: shareOf(inputs.flatMap(({ strata }) => strata), isSample && isWholeRead), // prettier-ignore
    samples: [...bySample].map(([sample, own]) => ({
      sample,
      ...shareOf(
        own.flatMap(([, { strata }]) => strata),
        isSample && own.every(([, { isRead }]) => isRead),
      ),
    })),
    curve,
  };
}

function shareOf(strata: readonly Stratum[], isSample: boolean): ShareSoFar {
  const sum = (value: (stratum: Stratum) => number): number =>
    strata.reduce((total, stratum) => total + value(stratum), 0);
  // Of sequences of one chunk the share of chunks is that of sequences.
  const unit = strata.every(({ sequences }) => [...sequences.keys()].every((chunks) => chunks === 1))
    ? 'sequences'
    : 'chunks';
  return {
    unit,
    viral: sum(({ viral }) => viral),
    scored: sum(({ scored }) => scored),
    total: sum(({ open }) => open),
    estimate: isSample ? estimateShare(strata) : null,
  };
}
