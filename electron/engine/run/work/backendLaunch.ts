import type { EngineContext } from '../../engineContext.ts';
import { pythonLaunch, type PythonLaunch } from '../../environment/pythonLaunch.ts';

/** How a run starts one of its processes, with the variables that say which GPUs the process may see. */
export function backendLaunch(
  { environment }: EngineContext,
  module: 'prepare' | 'devices.monitor' | 'worker' | 'cluster',
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): PythonLaunch {
  return pythonLaunch(environment, `virnucpro_backend.${module}`, args, variables);
}

/** For processes that must not touch a GPU: a context on one takes memory from the workers. */
export const NO_GPU = { CUDA_VISIBLE_DEVICES: '' } as const;
