import { unwrap, type Result, appFailure } from '../../../contract/errors.ts';
import { message, type Wording } from '../../../contract/messages.ts';
import type { ImportRequest, RemovedModel, StepProgress } from '../../../contract/rpc/computer.ts';
import type { EngineContext } from '../../run/engineContext.ts';
import { removeModel } from '../../models/listModels.ts';
import { resolveModel } from '../../models/resolveModel.ts';
import { getModel, importModels, verifyModel, type WeightsOptions } from '../../models/weights.ts';
import { Steps } from '../../environment/steps.ts';
import type { PythonEnvironmentManager } from './pythonEnvironmentManager.ts';
import { StepJob } from './stepJob.ts';

/**
 * Downloads, imports and checks of weights: one at a time, each followed by any number of windows. They
 * continue without followers, since a download takes longer than anyone watches.
 */
export class WeightDownloads {
  private readonly pythonEnvironment: PythonEnvironmentManager;
  private readonly jobs = new Map<string, StepJob>();
  private last: Promise<void> = Promise.resolve();

  constructor(pythonEnvironment: PythonEnvironmentManager) {
    this.pythonEnvironment = pythonEnvironment;
  }

  /** Downloads a published model, or joins a running download of it. */
  get(model: string): StepJob {
    return this.job(`get ${model}`, ({ environment, paths }, options) =>
      getModel(environment, paths, model, options),
    );
  }

  /** Stops a download; downloaded data is kept. */
  async pause(model: string): Promise<void> {
    const job = this.jobs.get(`get ${model}`);
    job?.cancel();
    await job?.ended;
  }

  get models(): string[] {
    return [...this.jobs.keys()].flatMap((key) => (key.startsWith('get ') ? [key.slice(4)] : []));
  }

  import(request: ImportRequest): StepJob {
    return this.job(`import ${JSON.stringify(request)}`, ({ environment, paths }, options) =>
      importModels(environment, paths, request, options),
    );
  }

  verify(model: string): StepJob {
    return this.job(`verify ${model}`, async ({ environment, paths }, options) => {
      const { planModel } = unwrap(await resolveModel(model, paths));
      return verifyModel(environment, planModel.folder, options);
    });
  }

  async remove(model: string): Promise<RemovedModel> {
    if (this.areUnderWay) {
      throw appFailure('weights_busy', 'Weights are being fetched, imported or checked in this program.');
    }
    return unwrap(await removeModel(model, this.pythonEnvironment.paths));
  }

  get areUnderWay(): boolean {
    return this.jobs.size > 0;
  }

  /** Cancels running work, and waits for its end. */
  async stop(): Promise<void> {
    const jobs = [...this.jobs.values()];
    for (const job of jobs) job.cancel();
    await Promise.all(jobs.map(({ ended }) => ended));
  }

  private job(
    key: string,
    work: (context: EngineContext, options: WeightsOptions) => Promise<Result<unknown>>,
  ): StepJob {
    const known = this.jobs.get(key);
    if (known) return known;
    const before = this.last;
    const job = new StepJob(
      message('step.queued'),
      async (tell, signal) => {
        await before;
        signal.throwIfAborted();
        const context = await this.pythonEnvironment.context();
        const report = weightsReporter(tell);
        unwrap(await work(context, { ...report, signal }));
      },
      { outlivesFollowers: true },
    );
    this.jobs.set(key, job);
    this.last = job.ended;
    void job.ended.then(() => this.jobs.delete(key));
    return job;
  }
}

/** The backend's step names as messages for a window. */
function wordingOf(step: string): Wording | null {
  const [, verb = '', file = ''] = /^(\w+) ?(.*)$/.exec(step) ?? [];
  switch (verb) {
    case 'Downloading':
      return message('step.downloading', { file }).wording;
    case 'Checking':
      return message('step.checking', { file }).wording;
    case 'Converting':
      return message('step.converting', { file }).wording;
    case 'Finishing':
      return message('step.finishing').wording;
    default:
      return null;
  }
}

/** Reports each line of the backend as a step and its progress. */
export function weightsReporter(
  tell: (progress: StepProgress) => void,
): Required<Pick<WeightsOptions, 'onProgress' | 'onNote'>> {
  const steps = new Steps(tell, 0);
  let current = '';
  return {
    onProgress: ({ step, done, total }) => {
      if (step !== current)
        steps.begin({ text: step, wording: wordingOf(step) }, { bytes: total, from: done });
      current = step;
      steps.at({ done, total, line: '' });
    },
    onNote: (line) => steps.at({ line }),
  };
}
