import { AppFailure } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type { PackOffline } from '../../../contract/rpc/computer.ts';
import { networkVariables, readSetupSettings } from '../../environment/appPaths.ts';
import { packOffline } from '../../setup/packOffline.ts';
import type { EngineBase } from '../../run/engineContext.ts';
import { StepJob, type StepWork } from './stepJob.ts';

/** Packs a folder for an offline set-up: one at a time, followed by any number of windows. */
export class OfflinePacking {
  private readonly base: EngineBase;
  private current: { readonly job: StepJob; readonly choice: PackOffline } | undefined;

  constructor(base: EngineBase) {
    this.base = base;
  }

  get isUnderWay(): boolean {
    return this.current !== undefined;
  }

  /** What is being packed; null if nothing is. */
  get underWay(): PackOffline | null {
    return this.current?.choice ?? null;
  }

  /**
   * Joins a packing that is already running. It continues without followers, since it takes longer than
   * anyone watches.
   */
  start(choice: PackOffline): StepJob {
    if (this.current) return this.current.job;
    const work: StepWork = async (tell, signal) => {
      const { paths, appVersion } = this.base;
      const packed = await packOffline({
        ...choice,
        paths,
        appVersion,
        env: networkVariables(readSetupSettings(paths.usualDataDir)),
        signal,
        onProgress: tell,
      });
      if (!packed.ok) throw new AppFailure(packed.error);
    };
    const job = new StepJob(message('step.looking'), work, { outlivesFollowers: true });
    this.current = { job, choice };
    void job.ended.then(() => {
      this.current = undefined;
    });
    return job;
  }

  /** Cancels a running packing, and waits for its end. */
  async stop(): Promise<void> {
    this.current?.job.cancel();
    await this.current?.job.ended;
  }
}
