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

/** A Python environment that takes a few seconds to set up, and that a test can make fail. */
export class MadeEnvironment {
  private stop = new AbortController();
  private readonly wake = new Set<() => void>();
  private state: EnvironmentStatus = READY;

  get status(): EnvironmentStatus {
    return this.state;
  }

  set status(state: EnvironmentStatus) {
    this.state = state;
    for (const wake of this.wake) wake();
  }

  lack(): void {
    this.status = { state: 'absent', plan: PLAN };
  }

  async *watch(): AsyncGenerator<EnvironmentStatus, void> {
    for (;;) {
      const shown = this.state;
      yield shown;
      if (this.state === shown) {
        await new Promise<void>((resolve) => {
          this.wake.add(resolve);
        });
      }
    }
  }

  async setUp(): Promise<void> {
    if (this.state.state === 'setting_up') return;
    this.stop = new AbortController();
    const { signal } = this.stop;
    for await (const progress of madeSteps(STEPS, 400)) {
      if (signal.aborted) return;
      this.status = { state: 'setting_up', progress: { ...progress, finished: false }, plan: PLAN };
    }
    if (signal.aborted) return;
    this.status = READY;
  }

  cancel(): void {
    if (this.state.state !== 'setting_up') return;
    this.stop.abort();
    this.status = { state: 'cancelled', plan: PLAN };
  }
}
