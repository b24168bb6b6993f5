import { AppFailure } from '../../../contract/errors.ts';
import { getModel } from '../../models/weights.ts';
import type { PythonEnvironmentManager } from './pythonEnvironmentManager.ts';
import { StepJob } from './stepJob.ts';
import { formatBytes } from '../../format/format.ts';

/** Downloads of weights under way, one for each model however many windows ask for it. */
export class WeightDownloads {
  private readonly gate: PythonEnvironmentManager;
  private readonly jobs = new Map<string, StepJob>();

  constructor(gate: PythonEnvironmentManager) {
    this.gate = gate;
  }

  get(model: string): StepJob {
    const known = this.jobs.get(model);
    if (known) return known;
    const job = this.start(model);
    this.jobs.set(model, job);
    void job.ended.then(() => this.jobs.delete(model));
    return job;
  }

  get areUnderWay(): boolean {
    return this.jobs.size > 0;
  }

  /** Gives up what is under way, and waits for its end. */
  async stop(): Promise<void> {
    const jobs = [...this.jobs.values()];
    for (const job of jobs) job.cancel();
    await Promise.all(jobs.map(({ ended }) => ended));
  }

  private start(model: string): StepJob {
    return new StepJob('Getting the weights', async (tell, signal) => {
      const { environment, paths } = await this.gate.context();
      const steps: string[] = [];
      const result = await getModel(environment, paths, model, {
        signal,
        onProgress: ({ step, done, total }) => {
          if (!steps.includes(step)) steps.push(step);
          tell({
            step,
            stepNumber: steps.indexOf(step) + 1,
            stepCount: Math.max(steps.length, 1),
            fraction: total ? Math.min(1, done / total) : null,
            line: total ? `${formatBytes(done)} of ${formatBytes(total)}` : formatBytes(done),
            finished: false,
            error: null,
          });
        },
      });
      if (!result.ok) throw new AppFailure(result.error);
    });
  }
}
