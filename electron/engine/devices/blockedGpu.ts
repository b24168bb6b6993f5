/** What keeps a GPU that is there from computing, and what helps. */
import { appError, type AppError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { ProbedGpu } from '../../contract/protocol/index.ts';

/** Null for a GPU that nothing is in the way of. `name`: what to call it. */
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
