import { appError, AppFailure } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { unwrap } from '../../../contract/result.ts';
import type { ModelAnswers } from '../../../contract/rpc/computer.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import { resolveModel } from '../../models/resolveModel.ts';
import { checkAnswers, lastAnswers } from '../../models/rightAnswers.ts';
import { listModels } from '../../models/listModels.ts';
import type { PythonEnvironmentManager } from './pythonEnvironmentManager.ts';
import { StepJob } from './stepJob.ts';

/** Whether the models that are here give the right answers: what is known, and checks under way, one per model. */
export class AnswerChecks {
  private readonly pythonEnvironment: PythonEnvironmentManager;
  private readonly jobs = new Map<string, StepJob>();

  constructor(pythonEnvironment: PythonEnvironmentManager) {
    this.pythonEnvironment = pythonEnvironment;
  }

  async last(): Promise<ModelAnswers[]> {
    const { environment, paths } = await this.pythonEnvironment.context();
    const [models, probe] = await Promise.all([listModels(paths), probeDevices(environment)]);
    const present = models.filter((model) => model.present);
    return Promise.all(
      present.map(async ({ id, title }) => ({
        model: id,
        title,
        last: await lastAnswers(environment, paths, unwrap(probe), unwrap(await resolveModel(id, paths))),
      })),
    );
  }

  check(model: string): StepJob {
    const known = this.jobs.get(model);
    if (known) return known;
    const job = new StepJob(message('step.known_frames'), async (tell, signal) => {
      const { environment, paths } = await this.pythonEnvironment.context();
      const here = (await listModels(paths)).some(({ id, present }) => id === model && present);
      if (!here)
        throw new AppFailure(appError('model_unknown', `There is no model "${model}" on this computer.`));
      const resolved = unwrap(await resolveModel(model, paths));
      const probe = unwrap(await probeDevices(environment));
      const onDevice = (name: string, number: number, count: number) => {
        tell({
          step: name,
          stepNumber: number,
          stepCount: count,
          fraction: null,
          line: '',
          finished: false,
          error: null,
        });
      };
      unwrap(await checkAnswers(environment, paths, probe, resolved, { onDevice, signal }));
    });
    this.jobs.set(model, job);
    void job.ended.then(() => this.jobs.delete(model));
    return job;
  }

  /** Gives up what is under way, and waits for its end. */
  async stop(): Promise<void> {
    const jobs = [...this.jobs.values()];
    for (const job of jobs) job.cancel();
    await Promise.all(jobs.map(({ ended }) => ended));
  }
}
