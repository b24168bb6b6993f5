import type { ProbedGpu } from '../../contract/protocol/index.ts';

/** Whoever computes on one should compare a few results with the processor's. */
export const AMD_UNTESTED = 'AMD GPUs were never tested with this program';

/** What a GPU can do, by its maker's measure. */
export function abilityWords(gpu: ProbedGpu): string {
  return gpu.vendor === 'nvidia'
    ? `compute capability ${gpu.compute_capability.join('.')}`
    : `${gpu.gfx_target}${gpu.integrated ? ', part of the processor' : ''}`;
}
