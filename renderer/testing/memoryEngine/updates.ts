import type { UpdateStatus } from '../../../electron/contract/index.ts';
import { pause } from './pause.ts';

const NOTHING: UpdateStatus = { outdated: false, update: { state: 'none' } };

/** A newer version of the program that is fetched in a moment. */
export class MadeUpdates {
  private status: UpdateStatus;
  private readonly wake = new Set<() => void>();

  constructor(status: UpdateStatus = NOTHING) {
    this.status = status;
  }

  async *watch(): AsyncGenerator<UpdateStatus, void> {
    for (;;) {
      const shown = this.status;
      yield shown;
      if (this.status === shown) {
        await new Promise<void>((resolve) => {
          this.wake.add(resolve);
        });
      }
    }
  }

  async download(): Promise<void> {
    const { update } = this.status;
    if (update.state !== 'available' && update.state !== 'failed') return;
    const { version } = update;
    for (const fraction of [0, 0.5]) {
      this.set({ state: 'downloading', version, fraction });
      await pause(100);
    }
    this.set({ state: 'ready', version });
  }

  private set(update: UpdateStatus['update']): void {
    this.status = { ...this.status, update };
    for (const wake of this.wake) wake();
    this.wake.clear();
  }
}
