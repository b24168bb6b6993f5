import { rmSync } from 'node:fs';
import { join, basename } from 'node:path';
import { appError, type AppError, ok, type Result, failWith } from '../../contract/errors.ts';
import { goalText, type Goal } from '../../contract/goal.ts';
import { message } from '../../contract/messages.ts';
import type { Order, PlanModel, Trusted } from '../../contract/plan.ts';
import { PROVISIONAL_TABLE } from '../../contract/results.ts';
import type { Where } from '../../contract/rpc/runs.ts';
import type { EngineContext } from './engineContext.ts';
import { exportResults } from '../exports/exportResults.ts';
import { expectedShares } from '../exports/samples.ts';
import type { StoredRun } from '../store/types.ts';
import type { RunStore } from '../store/runStore.ts';
import { storedRequest } from './runRecord.ts';
import { calibrationSchema, type Calibration } from '../../contract/rpc/computer.ts';
import { keep, readKept } from '../devices/check/check.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { calibrate } from '../results/calibration.ts';

/** The goal that a run stops at: the one set last, else the one requested. */
export function goalOf(run: StoredRun, folder: string): Goal | null {
  const { goal } = run.description.options;
  return goal === undefined ? (storedRequest(run, folder).until ?? null) : goal;
}

/** Why a run can't stop at this goal; null if it can. */
export function goalRefusal(
  goal: Goal | null | undefined,
  { order, where }: { order: Order; where: Where },
): AppError | null {
  if (!goal) return null;
  if (where.kind !== 'this_computer') return appError('usage', message('goal.only_here'));
  if (goal.kind === 'time' || order === 'sample') return null;
  return appError('usage', message('goal.needs_sample', { goal: goalText(goal) }));
}

export async function isReached(goal: Goal, store: RunStore, secondsAtWork: number): Promise<boolean> {
  if (goal.kind === 'time') return secondsAtWork >= goal.from + goal.seconds;
  const run = await store.loadRun();
  if (!run.prepared) return false;
  const shares = await expectedShares(store);
  return (shares?.samples ?? []).every(
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

const keptName = (modelHash: string): string => `calibration ${modelHash}`;

/**
 * How a model scores the user's own sequences, as the last run with `calibrates` found; null if there is
 * none.
 */
export async function lastCalibration(paths: AppPaths, modelHash: string): Promise<Calibration | null> {
  return (await readKept(paths, keptName(modelHash), calibrationSchema)) ?? null;
}

/** The scores against which a run with this model and chunk length computes p-values. */
export async function trustedScores(
  paths: AppPaths,
  { hash }: PlanModel,
  chunkLength: number,
): Promise<Trusted | undefined> {
  const calibration = await lastCalibration(paths, hash);
  if (calibration?.chunkLength !== chunkLength) return undefined;
  const { otherFile, calibratedAt, classes } = calibration;
  return {
    file: otherFile,
    calibratedAt,
    classes: classes.map(({ from, other, trustedScores }) => ({
      from,
      scored: other.scored,
      scores: trustedScores,
    })),
  };
}

/** Stores a finished run's scores of its two files as its model's calibration. */
export async function keepCalibration(paths: AppPaths, store: RunStore): Promise<Result<Calibration>> {
  const { plan, description } = await store.loadRun();
  const [viral, other] = plan.inputs;
  if (!viral || !other) return failWith('usage', message('calibration.two_files'));
  const calibratedAt = new Date(description.createdAt).toISOString();
  const [viralScores, otherScores] = [await store.labelledScores(0), await store.labelledScores(1)];
  if (![viralScores, otherScores].every((scores) => scores.some(({ score }) => score !== null)))
    return failWith('usage', message('calibration.no_scores'));
  const calibration = {
    calibratedAt,
    chunkLength: plan.chunkLength,
    precision: plan.precision,
    viralFile: basename(viral.path),
    otherFile: basename(other.path),
    classes: calibrate(viralScores, otherScores),
  };
  const before = await lastCalibration(paths, plan.model.hash);
  // A run may write its result files again long after a newer calibration.
  if (before !== null && before.calibratedAt > calibratedAt) return ok(before);
  await keep(paths, keptName(plan.model.hash), () => calibration);
  return (await lastCalibration(paths, plan.model.hash))?.calibratedAt === calibratedAt
    ? ok(calibration)
    : failWith('folder_unwritable', message('calibration.not_kept', { folder: paths.dataDir }));
}
