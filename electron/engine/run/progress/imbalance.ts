import { deviceNamed, message, type Message } from '../../../contract/messages.ts';
import type { DeviceSummary, RunDevice } from '../../store/types.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { RunNotes } from '../runNotes.ts';

/** Code of the event for uneven devices. */
export const IMBALANCE = 'devices_uneven';

const NOTABLE_IMBALANCE = 0.2;
/** With fewer parts than this, the difference may be chance. */
const TELLING_PARTS = 10;

/**
 * Describes devices of one kind if one was much slower than another: this suggests heat, a narrow slot, or
 * other programs on it. Null if all are even. Different kinds of devices are expected to differ.
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
  for (const { id, name } of devices) {
    const summary = done.find(({ device }) => device === id);
    if (!summary || summary.parts < TELLING_PARTS || summary.seconds <= 0) continue;
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
