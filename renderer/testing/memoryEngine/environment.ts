import { message, type EnvironmentStatus, type SetUpPlan } from '../../../electron/contract/index.ts';
import { madeSteps } from './steps.ts';

const PLAN: SetUpPlan = {
  folder: '/home/ada/.local/share/virnucpro-desktop/python',
  downloadBytes: 2_775_000_000,
  diskBytes: 8_170_000_000,
  diskFreeBytes: 214_000_000_000,
  pytorch: "CUDA 13.0 for NVIDIA H200 with NVIDIA's driver 580.95.",
};
const STEPS = [
  message('step.python'),
  { ...message('step.packages'), bytes: 44_751_855 },
  { ...message('step.pytorch'), bytes: 2_730_321_830 },
  message('step.verifying'),
];

const READY = {
  state: 'ready',
  pythonVersion: '3.12.4',
  torchVersion: '2.13.0',
} as const;

/** A Python environment that takes a few seconds to set up. */
export class MadeEnvironment {
  status: EnvironmentStatus = READY;

  lack(): void {
    this.status = { state: 'absent', plan: PLAN };
  }

  async setUp(): Promise<void> {
    if (this.status.state === 'setting_up') return;
    for await (const progress of madeSteps(STEPS, 400))
      this.status = { state: 'setting_up', progress: { ...progress, finished: false }, plan: PLAN };
    this.status = READY;
  }
}
