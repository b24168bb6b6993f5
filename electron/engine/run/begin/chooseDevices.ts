import type { Message } from '../../../contract/messages.ts';
import type { PoolChoice } from '../../../contract/protocol/index.ts';
import { clusterOf, type Where } from '../../../contract/rpc/runs.ts';
import { err, ok, type Result } from '../../../contract/result.ts';
import { withLastTrial } from '../../devices/checkDevices.ts';
import type { ChosenDevice } from '../../devices/chosenDevice.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import { leftOutRemark, selectDevices } from '../../devices/selectDevices.ts';
import type { EngineContext } from '../../engineContext.ts';
import type { ResolvedModel } from '../../models/resolvedModel.ts';
import { withoutGpus } from './clusterPlan.ts';

export interface DeviceChoice {
  /** Of this computer; none where a cluster brings them. */
  devices: ChosenDevice[];
  pool: PoolChoice | null;
  /** Why GPUs that are there take no part; null where none was left out. */
  leftOut: Message | null;
  /** Where the model lies on this computer. */
  modelFolder: string;
}

/** What a run is to compute on. */
export interface Wanted {
  where: Where;
  /** Of this computer, in the user's words. */
  devices: string;
}

/** The devices of this computer, as it is now, that the user's words stand for; or the cluster that will bring them. */
export async function chooseDevices(
  context: EngineContext,
  { where, devices: wanted }: Wanted,
  model: ResolvedModel,
): Promise<Result<DeviceChoice>> {
  const modelFolder = model.planModel.folder;
  const pool = clusterOf(where);
  if (pool) {
    const blocked = withoutGpus(pool, context.environment);
    return blocked ? err(blocked) : ok({ devices: [], pool, leftOut: null, modelFolder });
  }
  const found = await probeDevices(context.environment);
  if (!found.ok) return found;
  const probe = await withLastTrial(found.value, context.paths, context.environment);
  const devices = selectDevices(wanted, probe, { cpuMemory: model.cpuMemory });
  return devices.ok
    ? ok({
        devices: devices.value,
        pool: null,
        leftOut: leftOutRemark(wanted, probe, devices.value),
        modelFolder,
      })
    : devices;
}
