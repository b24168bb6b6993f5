import { stat } from 'node:fs/promises';
import { appError } from '../../contract/errors.ts';
import { err, type Result } from '../../contract/result.ts';
import { choosePrecision, type ChosenDevice } from '../devices/index.ts';
import type { EngineContext } from '../engineContext.ts';
import { resolveModel } from '../models/index.ts';
import type { StoredRun } from '../store/types.ts';
import { chooseDevices } from './chooseDevices.ts';
import { makeWorkFolders } from './runFolder.ts';

/** Whether a run can go on here and now: same model, inputs still there where they are needed, devices that fit the plan. */
export async function checkReadiness(
  context: EngineContext,
  folder: string,
  run: StoredRun,
  devicesWanted: string,
): Promise<Result<ChosenDevice[]>> {
  const { plan } = run;
  const model = await resolveModel(plan.model.folder, context.paths);
  if (!model.ok) return model;
  if (model.value.planModel.hash !== plan.model.hash) {
    return err(
      appError(
        'model_damaged',
        `The weights of ${plan.model.title} are not those that the run was started with.`,
        {
          nextStep: 'Put the original weights back, or start a new run.',
        },
      ),
    );
  }
  if (!run.prepared) {
    for (const input of plan.inputs) {
      const info = await stat(input.path).catch(() => undefined);
      if (!info)
        return err(
          appError('input_not_found', `${input.path} is gone, and it has not been read to its end.`),
        );
      if (info.size !== input.sizeBytes) {
        return err(
          appError('input_changed', `${input.path} has another size than when the run was started.`),
        );
      }
    }
  }
  const devices = await chooseDevices(context, devicesWanted, model.value);
  if (!devices.ok) return devices;
  const precision = choosePrecision(plan.precision, devices.value);
  if (!precision.ok) return precision;
  await makeWorkFolders(folder);
  return devices;
}
