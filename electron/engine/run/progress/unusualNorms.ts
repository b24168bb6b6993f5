import type { Plan } from '../../../contract/plan.ts';
import type { EncoderNorms, UnusualNorms } from '../../../contract/rpc/runs.ts';
import type { NormRange, RunCounts } from '../../store/types.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { RunNotes } from '../runNotes.ts';

/** Code of the event that says so. */
export const UNUSUAL_NORMS = 'norms_outside_band';

/** Frames whose embeddings are of another size than the model is expected to give; null without any. They are scored. */
export function unusualNorms(plan: Plan, counts: RunCounts): UnusualNorms | null {
  const bands = plan.model.normBands;
  const { esm2, dnabertS } = counts.norms;
  if (counts.outsideNormBand === 0 || !bands || !esm2 || !dnabertS) return null;
  const beside = ({ low, high }: NormRange, [expectedLow, expectedHigh]: [number, number]): EncoderNorms => ({
    low,
    high,
    expectedLow,
    expectedHigh,
  });
  return {
    frames: counts.outsideNormBand,
    ofFrames: counts.frames.done,
    esm2: beside(esm2, bands.esm2),
    dnabertS: beside(dnabertS, bands.dnabert_s),
  };
}

export function describeUnusualNorms({ frames, ofFrames, esm2, dnabertS }: UnusualNorms): string {
  const range = ({ low, high, expectedLow, expectedHigh }: EncoderNorms) =>
    `${low.toFixed(2)} to ${high.toFixed(2)} (expected ${expectedLow} to ${expectedHigh})`;
  return (
    `${frames.toLocaleString('en')} of ${ofFrames.toLocaleString('en')} reading frames have embeddings of unusual size. ` +
    `Norms of ESM-2: ${range(esm2)}; of DNABERT-S: ${range(dnabertS)}. All are scored. Short and repetitive frames can be ` +
    'unusual; if many frames are, let "virnucpro doctor --answers" check that this computer gives the right answers.'
  );
}

/** Says so, once in a run, when all of it is computed. */
export async function noteUnusualNorms(store: RunStore, notes: RunNotes): Promise<void> {
  const { plan, counts } = await store.loadRun();
  const norms = unusualNorms(plan, counts);
  if (norms === null) return;
  const remarks = await store.remarks(Number.MAX_SAFE_INTEGER);
  if (remarks.every(({ code }) => code !== UNUSUAL_NORMS))
    notes.add('warning', UNUSUAL_NORMS, describeUnusualNorms(norms));
}
