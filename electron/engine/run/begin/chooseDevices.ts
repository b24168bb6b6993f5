import { ok, type Result } from '../../../contract/result.ts';
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
  const probe = await probeDevices(context.environment);
  if (!probe.ok) return probe;
  const devices = selectDevices(wanted, probe.value, { cpuWorkerMemoryBytes: model.cpuWorkerMemoryBytes });
  return devices.ok
    ? ok({
        devices: devices.value,
        leftOut: leftOutRemark(wanted, probe.value, devices.value),
        modelFolder: model.planModel.folder,
      })
    : devices;
}
