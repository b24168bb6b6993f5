/** What keeps a GPU that is there from computing, and what helps. */
import { appError, type AppError } from '../../contract/errors.ts';
import type { ProbedGpu } from '../../contract/protocol/index.ts';

const NEXT_STEPS = {
  nvidia:
    'Repair the Python environment ("virnucpro doctor --repair"); one of your own needs PyTorch for CUDA.',
  amd:
    'On Linux, repair the Python environment ("virnucpro doctor --repair"): without an NVIDIA driver here it gets PyTorch for ' +
    'ROCm. Or choose an interpreter of your own that has it, under Settings or with --python PATH.',
} as const;

/** Null for a GPU that nothing is in the way of. `name`: what to call it. */
export function blockedGpu(gpu: ProbedGpu, name: string): AppError | null {
  switch (gpu.blocked_by) {
    case null:
      return null;
    case 'pytorch': {
      const needed = gpu.vendor === 'amd' ? 'PyTorch for ROCm' : 'PyTorch for CUDA';
      return appError('device_blocked', `${name} needs ${needed}; the Python environment has another one.`, {
        nextStep: NEXT_STEPS[gpu.vendor],
      });
    }
    case 'architecture':
      return appError(
        'device_blocked',
        `${name}${capabilityOf(gpu)} is not supported by the installed PyTorch.`,
        {
          nextStep:
            'Repair the Python environment ("virnucpro doctor --repair"): it gets the PyTorch that most GPUs of this computer can use.',
        },
      );
    case 'driver':
      return appError('device_blocked', `${name} needs a newer NVIDIA driver for the installed PyTorch.`, {
        nextStep:
          'Update NVIDIA\'s driver, or repair the Python environment ("virnucpro doctor --repair"): it gets the PyTorch for ' +
          'the driver that is here.',
      });
    case 'permission':
      return appError('device_blocked', `${name} is closed to this user account (/dev/kfd and /dev/dri).`, {
        nextStep: 'Add the account to the groups "render" and "video", and log in again.',
      });
  }
}

function capabilityOf(gpu: ProbedGpu): string {
  return gpu.vendor === 'nvidia' ? ` (compute capability ${gpu.compute_capability.join('.')})` : '';
}
