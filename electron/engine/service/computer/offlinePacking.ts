import { AppFailure } from '../../../contract/errors.ts';
import type { PackOffline } from '../../../contract/rpc/computer.ts';
import { networkVariables, readSetupSettings } from '../../environment/setupSettings.ts';
import { packOffline } from '../../setup/packOffline.ts';
import type { PythonEnvironmentManager } from './pythonEnvironmentManager.ts';
import { StepJob } from './stepJob.ts';

/** A folder for setting up without a network that is being packed: one at a time, however many windows follow it. */
export class OfflinePacking {
  private readonly pythonEnvironment: PythonEnvironmentManager;
  private job: StepJob | undefined;

  constructor(pythonEnvironment: PythonEnvironmentManager) {
    this.pythonEnvironment = pythonEnvironment;
  }

  get isUnderWay(): boolean {
    return this.job !== undefined;
  }

  /** Joins in where one is under way. */
  start(choice: PackOffline): StepJob {
    if (this.job) return this.job;
    const job = new StepJob('Getting the installer', async (tell, signal) => {
      const { environment, paths, appVersion } = await this.pythonEnvironment.context();
      const packed = await packOffline({
        ...choice,
        paths,
        environment,
        appVersion,
        env: networkVariables(readSetupSettings(paths.usualDataDir)),
        signal,
        onProgress: tell,
      });
      if (!packed.ok) throw new AppFailure(packed.error);
    });
    this.job = job;
    void job.ended.then(() => {
      this.job = undefined;
    });
    return job;
  }

  /** Gives up what is under way, and waits for its end. */
  async stop(): Promise<void> {
    this.job?.cancel();
    await this.job?.ended;
  }
}
