import { ok, type Result } from '../../../contract/result.ts';
import { withLastTrial } from '../../devices/checkDevices.ts';
import type { ChosenDevice } from '../../devices/chosenDevice.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import { leftOutRemark, selectDevices } from '../../devices/selectDevices.ts';
import type { EngineContext } from '../../engineContext.ts';
import type { ResolvedModel } from '../../models/resolvedModel.ts';

export interface DeviceChoice {
  devices: ChosenDevice[];
  /** Why GPUs that are there take no part; null where none was left out. */
  leftOut: string | null;
  /** Where the model lies on this computer. */
  modelFolder: string;
}

/** The devices of this computer, as it is now, that the user's words stand for. */
export async function chooseDevices(
  context: EngineContext,
  wanted: string,
  model: ResolvedModel,
): Promise<Result<DeviceChoice>> {
  const found = await probeDevices(context.environment);
  if (!found.ok) return found;
  const probe = await withLastTrial(found.value, context.paths, context.environment);
  const devices = selectDevices(wanted, probe, { cpuWorkerMemoryBytes: model.cpuWorkerMemoryBytes });
  return devices.ok
    ? ok({
        devices: devices.value,
        leftOut: leftOutRemark(wanted, probe, devices.value),
        modelFolder: model.planModel.folder,
      })
    : devices;
}
