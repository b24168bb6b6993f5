import { basename } from 'node:path';
import { appError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { PlanModel, Trusted } from '../../contract/plan.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import { calibrationSchema, type Calibration } from '../../contract/rpc/computer.ts';
import { keep, readKept } from '../devices/selfTest/selfTest.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { calibrate } from '../results/calibration.ts';
import type { RunStore } from '../store/runStoreFace.ts';

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
  if (!viral || !other) return err(appError('usage', message('calibration.two_files')));
  const calibratedAt = new Date(description.createdAt).toISOString();
  const [viralScores, otherScores] = [await store.labelledScores(0), await store.labelledScores(1)];
  if (![viralScores, otherScores].every((scores) => scores.some(({ score }) => score !== null)))
    return err(appError('usage', message('calibration.no_scores')));
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
  await keep(paths, keptName(plan.model.hash), calibration);
  return (await lastCalibration(paths, plan.model.hash))?.calibratedAt === calibratedAt
    ? ok(calibration)
    : err(appError('folder_unwritable', message('calibration.not_kept', { folder: paths.dataDir })));
}
