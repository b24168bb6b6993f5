import type { EngineContext } from '../../engineContext.ts';
import { pythonLaunch } from '../../environment/pythonLaunch.ts';
import { recorded, type RecordedLaunch } from '../../workers/processRecords.ts';

/** How a run starts one of its processes, with the variables that say which GPUs the process may see. */
export function backendLaunch(
  { environment, paths }: EngineContext,
  module: 'prepare' | 'devices.monitor' | 'worker' | 'cluster',
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): RecordedLaunch {
  return recorded(pythonLaunch(environment, `virnucpro_backend.${module}`, args, variables), paths);
}

/** For processes that must not touch a GPU: a context on one takes memory from the workers. */
export const NO_GPU = { CUDA_VISIBLE_DEVICES: '' } as const;
