import { deviceNamed, message, type Message } from '../../../contract/messages.ts';
import type { DeviceSummary, RunDevice, NormRange, RunCounts } from '../../store/types.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { RunNotes } from '../runNotes.ts';
import type { Plan } from '../../../contract/plan.ts';
import type { EncoderNorms, UnusualNorms } from '../../../contract/rpc/runs.ts';
import { formatCount } from '../../../contract/terminal/format.ts';

/** Code of the event for uneven devices. */
export const IMBALANCE = 'devices_uneven';

const NOTABLE_IMBALANCE = 0.2;
/** With fewer parts, or after less computing, the difference may be chance. */
const TELLING_PARTS = 10;
const TELLING_SECONDS = 60;

/**
 * Describes GPUs of one kind if one was much slower than another: this suggests heat, a narrow slot, or
 * other programs on it. Null if all are even. Different kinds of GPUs are expected to differ, and the workers
 * of a processor share its cores with every other program.
 */
export function describeImbalance(
  devices: readonly RunDevice[],
  done: readonly DeviceSummary[],
): Message | null {
  const found = findImbalance(devices, done);
  if (!found) return null;
  const { name, slowest, fastest, percent } = found;
  const named = (id: string): Message => deviceNamed({ id, name: id });
  return message('note.uneven', { name, device: named(slowest), percent, other: named(fastest) });
}

interface Imbalance {
  name: string;
  slowest: string;
  fastest: string;
  percent: number;
}

export function findImbalance(
  devices: readonly RunDevice[],
  done: readonly DeviceSummary[],
): Imbalance | null {
  const byName = new Map<string, { id: string; rate: number }[]>();
  for (const { id, name, kind } of devices) {
    if (kind === 'cpu') continue;
    const summary = done.find(({ device }) => device === id);
    if (!summary || summary.parts < TELLING_PARTS || summary.seconds < TELLING_SECONDS) continue;
    const rates = byName.get(name) ?? [];
    rates.push({ id, rate: summary.residues / summary.seconds });
    byName.set(name, rates);
  }
  for (const [name, rates] of byName) {
    const sorted = rates.toSorted((a, b) => a.rate - b.rate);
    const [slowest, fastest] = [sorted[0], sorted.at(-1)];
    if (!slowest || !fastest || slowest.rate >= fastest.rate * (1 - NOTABLE_IMBALANCE)) continue;
    const percent = Math.round((1 - slowest.rate / fastest.rate) * 100);
    return { name, slowest: slowest.id, fastest: fastest.id, percent };
  }
  return null;
}

/**
 * Reports it once per run, and returns whether it has been reported. Earlier reports are in the run's own
 * database.
 */
export async function noteImbalance(store: RunStore, notes: RunNotes): Promise<boolean> {
  const [{ devices }, done] = await Promise.all([store.loadRun(), store.deviceSummaries()]);
  const words = describeImbalance(devices, done);
  if (words === null) return false;
  const remarks = await store.remarks(Number.MAX_SAFE_INTEGER);
  if (remarks.every(({ code }) => code !== IMBALANCE)) notes.add('warning', IMBALANCE, words);
  return true;
}

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
