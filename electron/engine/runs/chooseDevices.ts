import type { Result } from '../../contract/result.ts';
import { probeDevices, selectDevices, type ChosenDevice } from '../devices/index.ts';
import type { EngineContext } from '../engineContext.ts';
import type { ResolvedModel } from '../models/index.ts';

/** The devices of this computer, as it is now, that the user's words stand for. */
export async function chooseDevices(
  context: EngineContext,
  wanted: string,
  model: ResolvedModel,
): Promise<Result<ChosenDevice[]>> {
  const probe = await probeDevices(context.environment);
  if (!probe.ok) return probe;
  return selectDevices(wanted, probe.value, { cpuWorkerMemoryBytes: model.cpuWorkerMemoryBytes });
}
