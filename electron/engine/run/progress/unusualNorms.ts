import { message, type Message } from '../../../contract/messages.ts';
import type { Plan } from '../../../contract/plan.ts';
import type { EncoderNorms, UnusualNorms } from '../../../contract/rpc/runs.ts';
import { formatCount } from '../../../contract/terminal/format.ts';
import type { NormRange, RunCounts } from '../../store/types.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { RunNotes } from '../runNotes.ts';

/** Code of the event for unusual norms. */
export const UNUSUAL_NORMS = 'norms_outside_band';

/**
 * Frames whose embeddings have another size than the model is expected to give; null if there are none. They
 * are scored.
 */
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

export function describeUnusualNorms({ frames, ofFrames, esm2, dnabertS }: UnusualNorms): Message {
  const range = ({ low, high, expectedLow, expectedHigh }: EncoderNorms) =>
    message('norms.range', { low: low.toFixed(2), high: high.toFixed(2), expectedLow, expectedHigh });
  return message('note.unusual_norms', {
    frames: formatCount(frames),
    all: formatCount(ofFrames),
    esm2: range(esm2),
    dnabertS: range(dnabertS),
  });
}

/** Reports them once per run, when everything is computed. */
export async function noteUnusualNorms(store: RunStore, notes: RunNotes): Promise<void> {
  const { plan, counts } = await store.loadRun();
  const norms = unusualNorms(plan, counts);
  if (norms === null) return;
  const remarks = await store.remarks(Number.MAX_SAFE_INTEGER);
  if (remarks.every(({ code }) => code !== UNUSUAL_NORMS))
    notes.add('warning', UNUSUAL_NORMS, describeUnusualNorms(norms));
}
