/** What keeps a GPU that is there from computing, and what helps. */
import { appError, type AppError } from '../../contract/errors.ts';
import type { ProbedGpu } from '../../contract/protocol/index.ts';

const NEXT_STEPS = {
  nvidia:
    'Repair the Python environment ("virnucpro doctor --repair"); one of your own needs PyTorch for CUDA.',
  amd:
    'Install PyTorch for ROCm into a Python environment of your own, together with the other packages of ' +
    'python-backend/requirements.txt, and name its interpreter: --python PATH, or VIRNUCPRO_PYTHON=PATH for the app.',
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
    case 'permission':
      return appError('device_blocked', `${name} is closed to this user account (/dev/kfd and /dev/dri).`, {
        nextStep: 'Add the account to the groups "render" and "video", and log in again.',
      });
  }
}
