import type { Message } from '../../../contract/messages.ts';
import { computesOn, type ClusterChoice } from '../../../contract/cluster.ts';
import type { Precision } from '../../../contract/protocol/index.ts';
import { clusterOf, type Where } from '../../../contract/rpc/runs.ts';
import { err, ok, type Result } from '../../../contract/result.ts';
import { oldGpusRemark, withoutOldGpus } from '../../devices/choosePrecision.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import { refusedBySlurm } from '../shares/slurm.ts';
import { coresRemark, isAutomatic, leftOutRemark, selectDevices } from '../../devices/selectDevices.ts';
import { withLastTest } from '../../devices/selfTest/deviceLevel.ts';
import type { EngineContext } from '../../engineContext.ts';
import type { ResolvedModel } from '../../models/modelFolder.ts';
import { withoutGpus, type PlannedDevices } from './clusterPlan.ts';

export interface DeviceChoice extends PlannedDevices {
  cluster: ClusterChoice | null;
  /** Why GPUs that are there take no part. */
  leftOut: Message[];
  /** How many cores compute, where not all do. */
  cores?: Message | null;
  /** Where the model lies on this computer. */
  modelFolder: string;
  /** The driver of NVIDIA's GPUs here. */
  driver?: string | null;
}

/** What a run is to compute on. */
export interface Wanted {
  where: Where;
  /** Of this computer, in the user's words. */
  devices: string;
  /** In which a run that exists computes, or as the user wants it. */
  precision: 'auto' | Precision;
}

/** The devices of this computer, as it is now, that the user's words stand for; or the cluster that will bring them. */
export async function chooseDevices(
  context: EngineContext,
  { where, devices: wanted, precision }: Wanted,
  model: ResolvedModel,
): Promise<Result<DeviceChoice>> {
  const modelFolder = model.planModel.folder;
  const cluster = clusterOf(where);
  if (cluster) {
    const blocked =
      withoutGpus(cluster, context.environment) ??
      (cluster.kind === 'slurm' ? await refusedBySlurm(context, cluster) : null);
    const plannedFor = computesOn(cluster);
    return blocked ? err(blocked) : ok({ devices: [], cluster, plannedFor, leftOut: [], modelFolder });
  }
  if (where.kind === 'shares') {
    const plannedFor = where.on_processors ? 'cpu' : 'gpu';
    return ok({ devices: [], cluster: null, plannedFor, leftOut: [], modelFolder });
  }
  const found = await probeDevices(context.environment);
  if (!found.ok) return found;
  const probe = await withLastTest(found.value, context.paths, context.environment);
  const selected = selectDevices(wanted, probe, { cpuMemory: model.cpuMemory });
  if (!selected.ok) return selected;
  const { devices, old } = isAutomatic(wanted)
    ? withoutOldGpus(precision, selected.value)
    : { devices: selected.value, old: [] };
  const leftOut = [leftOutRemark(wanted, probe, devices), oldGpusRemark(old)].filter((said) => said !== null);
  const cores = coresRemark(wanted, probe, devices, model.cpuMemory);
  const { driver_version: driver } = probe;
  return ok({ devices, cluster: null, plannedFor: null, leftOut, cores, modelFolder, driver });
}
