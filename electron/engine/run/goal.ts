import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { appError, type AppError } from '../../contract/errors.ts';
import { goalSchema, goalText, type Goal } from '../../contract/goal.ts';
import { message } from '../../contract/messages.ts';
import type { Order } from '../../contract/plan.ts';
import { PROVISIONAL_TABLE } from '../../contract/results.ts';
import type { Where } from '../../contract/rpc/runs.ts';
import type { EngineContext } from '../engineContext.ts';
import { exportResults } from '../exports/exportResults.ts';
import { samplesOf } from '../exports/samples.ts';
import { sharesSoFar } from '../results/estimates/shareSoFar.ts';
import { GOAL_OPTION, type StoredRun } from '../store/types.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import { storedRequest } from './storedRequest.ts';

/** The goal that a run stops at: the one set last, else the one requested. */
export function goalOf(run: StoredRun, folder: string): Goal | null {
  const { options } = run.description;
  if (!(GOAL_OPTION in options)) return storedRequest(run, folder).until ?? null;
  return goalSchema.safeParse(options[GOAL_OPTION]).data ?? null;
}

/** Why a run can't stop at this goal; null if it can. */
export function goalRefusal(
  goal: Goal | null | undefined,
  { order, where }: { order: Order; where: Where },
): AppError | null {
  if (!goal) return null;
  if (where.kind !== 'this_computer') return appError('usage', message('goal.only_here'));
  if (goal.kind === 'time' || order === 'sample') return null;
  return appError('usage', message('goal.needs_sample', { goal: goalText(goal) }), {
    nextStep: message('goal.needs_sample.next'),
  });
}

export async function isReached(goal: Goal, store: RunStore, secondsAtWork: number): Promise<boolean> {
  if (goal.kind === 'time') return secondsAtWork >= goal.from + goal.seconds;
  const run = await store.loadRun();
  if (!run.prepared) return false;
  if (goal.kind === 'settled') {
    const { total } = await store.countPredictions({ filter: { settled: true } });
    return total >= run.prepared.records;
  }
  const { samples } = sharesSoFar(await store.viralSoFar(), samplesOf(run));
  return samples.every(
    ({ total, estimate }) =>
      total === 0 || (estimate !== null && (estimate.high - estimate.low) / 2 <= goal.share),
  );
}

/**
 * Writes what is known when a run has reached its goal: a table that says for each call whether it may
 * change.
 */
export async function writeProvisionalTable(context: EngineContext, store: RunStore): Promise<void> {
  await exportResults(store, {
    selection: { filter: {} },
    sort: { by: 'row', descending: false },
    format: 'tsv',
    path: join(store.folder, PROVISIONAL_TABLE),
    language: 'en',
    environment: () => Promise.resolve(context.environment),
  });
}

/** The table is outdated as soon as more is computed. */
export function removeProvisionalTable(folder: string): void {
  rmSync(join(folder, PROVISIONAL_TABLE), { force: true });
}
