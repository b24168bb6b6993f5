/** GPUs in words: what one can do, and what keeps it from computing. */
import { appError, type AppError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { ProbedGpu } from '../../contract/protocol/index.ts';

/** Whoever computes on one should compare a few results with the processor's. */
export const AMD_UNTESTED = 'AMD GPUs were never tested with this program';

/** What a GPU can do, by its maker's measure. */
export function abilityWords(gpu: ProbedGpu): string {
  return gpu.vendor === 'nvidia'
    ? `compute capability ${gpu.compute_capability.join('.')}`
    : `${gpu.gfx_target}${gpu.integrated ? ', part of the processor' : ''}`;
}

/** What keeps a GPU from computing, and what helps; null where nothing does. `name`: what to call it. */
export function blockedGpu(gpu: ProbedGpu, name: string): AppError | null {
  const reason = reasonOf(gpu);
  if (reason === null) return null;
  const called = reason === 'architecture' ? `${name}${capabilityOf(gpu)}` : name;
  return appError('device_blocked', message(`blocked.${reason}`, { name: called }), {
    nextStep: message(`blocked.${reason}.next`),
  });
}

function reasonOf({ blocked_by: reason, vendor }: ProbedGpu) {
  if (reason === 'pytorch') return vendor === 'amd' ? 'pytorch_rocm' : 'pytorch_cuda';
  return reason;
}

function capabilityOf(gpu: ProbedGpu): string {
  return gpu.vendor === 'nvidia' ? ` (compute capability ${gpu.compute_capability.join('.')})` : '';
}
