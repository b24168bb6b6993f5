import { appError, AppFailure } from '../../../contract/errors.ts';
import { err, ok, type Result } from '../../../contract/result.ts';
import type { EngineContext } from '../../engineContext.ts';
import { hashFile } from '../../files/hashFile.ts';
import { answerOf, openRegular, type Patience } from '../../files/regularFile.ts';
import { findModel } from '../../models/resolveModel.ts';
import type { StoredRun } from '../../store/types.ts';
import { chooseDevices, type DeviceChoice, type Wanted } from './chooseDevices.ts';
import { precisionOf } from './clusterPlan.ts';
import { makeWorkFolders } from '../../store/runFolder.ts';

/**
 * Checks whether a run can continue here and now: the same model, inputs still present if they are needed,
 * devices that fit the plan. For a run that was just created, `chosen` holds the devices, which were then
 * checked together with the model.
 */
export async function checkReadiness(
  context: EngineContext,
  folder: string,
  run: StoredRun,
  wanted: Omit<Wanted, 'precision'>,
  chosen?: DeviceChoice,
  patience: Patience = {},
): Promise<Result<DeviceChoice>> {
  // For large inputs, comparing takes as long as finding the devices, so both run at once.
  const [inputs, choice] = await Promise.all([
    run.prepared ? ok(undefined) : checkInputs(run, patience),
    chosen ? ok(chosen) : chooseForPlan(context, run, wanted, patience),
  ]);
  if (!inputs.ok) return inputs;
  if (choice.ok) makeWorkFolders(folder);
  return choice;
}

async function chooseForPlan(
  context: EngineContext,
  { plan, prepared }: StoredRun,
  wanted: Omit<Wanted, 'precision'>,
  patience: Patience,
): Promise<Result<DeviceChoice>> {
  // What shares have computed is merged without the model, for example on a login node that has no weights.
  if (wanted.where.kind === 'shares' && prepared !== null)
    return ok({ devices: [], cluster: null, plannedFor: null, leftOut: [], modelFolder: plan.model.folder });
  const model = await answerOf(findModel(plan.model, context.paths), plan.model.folder, patience);
  if (!model.ok) return model;
  const choice = await chooseDevices(context, { ...wanted, precision: plan.precision }, model.value);
  if (!choice.ok) return choice;
  const precision = precisionOf(plan.precision, choice.value);
  return precision.ok ? choice : precision;
}

/**
 * Inputs that are still to be read must match the plan. Those of a run just created have just been hashed.
 */
async function checkInputs({ inputs, state }: StoredRun, patience: Patience): Promise<Result<void>> {
  const isKnown = state.phase === 'created';
  for (const { path, sizeBytes, sha256, failure } of inputs) {
    if (failure) continue;
    try {
      const size = await sizeOfRegular(path, patience);
      if (size !== sizeBytes || (!isKnown && (await hashFile(path, undefined, patience.signal)) !== sha256))
        return err(appError('input_changed', `${path} is not the file that the run was started with.`));
    } catch (reason) {
      if (isGone(reason))
        return err(appError('input_not_found', `${path} is gone, and it has not been read to its end.`));
      return err(reason instanceof AppFailure ? reason.error : appError('input_unreadable', String(reason)));
    }
  }
  return ok(undefined);
}

const isGone = (reason: unknown): boolean =>
  reason instanceof Error && 'code' in reason && (reason.code === 'ENOENT' || reason.code === 'ENOTDIR');

async function sizeOfRegular(path: string, patience: Patience): Promise<number> {
  const file = await openRegular(path, patience);
  try {
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}
