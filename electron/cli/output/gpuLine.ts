import type { ProbedGpu } from '../../contract/protocol/index.ts';
import { abilityWords, AMD_UNTESTED, blockedGpu, formatBytes } from '../../engine/index.ts';

/** A GPU of this computer in one line, for `devices`. */
export function gpuLine(gpu: ProbedGpu): string {
  const users = gpu.processes.map(({ name, pid }) => name ?? `process ${pid}`);
  const blocked = blockedGpu(gpu, 'it');
  return [
    `GPU ${gpu.index}`,
    gpu.name,
    `${formatBytes(gpu.memory_free_bytes)} of ${formatBytes(gpu.memory_total_bytes)} free`,
    abilityWords(gpu),
    gpu.uuid,
    ...(gpu.visible ? [] : ['hidden by an environment variable']),
    ...(blocked ? [`not usable: ${blocked.cause} ${blocked.nextStep}`] : []),
    ...(gpu.vendor === 'amd' ? [AMD_UNTESTED] : []),
    ...(users.length > 0 ? [`in use by ${users.join(', ')}`] : []),
  ].join('  ');
}
