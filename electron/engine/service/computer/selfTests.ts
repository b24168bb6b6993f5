import { appError, AppFailure } from '../../../contract/errors.ts';
import { message, type Message } from '../../../contract/messages.ts';
import { unwrap } from '../../../contract/result.ts';
import type {
  MeasuredSpeed,
  ModelAnswers,
  SelfTestLevel,
  SelfTests,
} from '../../../contract/rpc/computer.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import { checkAnswers, lastAnswers } from '../../devices/selfTest/modelLevel.ts';
import type { LevelOptions } from '../../devices/selfTest/selfTest.ts';
import { bestRow, keptSpeed, measureSpeed } from '../../devices/selfTest/speedLevel.ts';
import type { EngineContext } from '../../engineContext.ts';
import { listModels } from '../../models/listModels.ts';
import { resolveModel } from '../../models/resolveModel.ts';
import type { PythonEnvironmentManager } from './pythonEnvironmentManager.ts';
import { StepJob } from './stepJob.ts';

/** For each device. */
const SPEED_SECONDS = 60;

/** The levels of the self-test that a user starts: what they found last, and those at work, each at most once. */
export class UserSelfTests {
  private readonly pythonEnvironment: PythonEnvironmentManager;
  private readonly jobs = new Map<string, StepJob>();

  constructor(pythonEnvironment: PythonEnvironmentManager) {
    this.pythonEnvironment = pythonEnvironment;
  }

  async last(): Promise<SelfTests> {
    const context = await this.pythonEnvironment.context();
    return { models: await lastOfModels(context), speed: await lastSpeed(context) };
  }

  start(level: SelfTestLevel): StepJob {
    if (level.level === 'speed') {
      return this.job('speed', message('step.measuring_speed'), async (context, options) => {
        const { environment, paths } = context;
        const probe = unwrap(await probeDevices(environment));
        await measureSpeed(environment, paths, probe, SPEED_SECONDS, options);
      });
    }
    const { model } = level;
    return this.job(`model ${model}`, message('step.known_frames'), async (context, options) => {
      const { environment, paths } = context;
      const present = (await listModels(paths)).some((each) => each.id === model && each.present);
      if (!present)
        throw new AppFailure(appError('model_unknown', `There is no model "${model}" on this computer.`));
      const { planModel } = unwrap(await resolveModel(model, paths));
      const probe = unwrap(await probeDevices(environment));
      unwrap(await checkAnswers(environment, paths, probe, planModel, options));
    });
  }

  private job(
    name: string,
    title: Message,
    work: (context: EngineContext, options: LevelOptions) => Promise<void>,
  ): StepJob {
    const known = this.jobs.get(name);
    if (known) return known;
    const job = new StepJob(title, async (tell, signal) => {
      const onDevice = (step: string, stepNumber: number, stepCount: number) => {
        tell({ step, stepNumber, stepCount, fraction: null, line: '', finished: false, error: null });
      };
      await work(await this.pythonEnvironment.context(), { onDevice, signal });
    });
    this.jobs.set(name, job);
    void job.ended.then(() => this.jobs.delete(name));
    return job;
  }

  /** Stops the tests at work, and waits for their end. */
  async stop(): Promise<void> {
    const jobs = [...this.jobs.values()];
    for (const job of jobs) job.cancel();
    await Promise.all(jobs.map(({ ended }) => ended));
  }
}

async function lastOfModels({ environment, paths }: EngineContext): Promise<ModelAnswers[]> {
  const [models, probe] = await Promise.all([listModels(paths), probeDevices(environment)]);
  const lastOf = async (id: string) =>
    lastAnswers(environment, paths, unwrap(probe), unwrap(await resolveModel(id, paths)).planModel);
  const present = models.filter((model) => model.present);
  return Promise.all(present.map(async ({ id, title }) => ({ model: id, title, last: await lastOf(id) })));
}

async function lastSpeed({ environment, paths }: EngineContext): Promise<MeasuredSpeed | null> {
  const kept = await keptSpeed(environment, paths);
  return (
    kept && {
      measuredAt: kept.measuredAt,
      devices: kept.devices.map((device) => {
        const row = bestRow(device);
        return {
          id: device.id,
          name: device.name,
          speed: row && {
            precision: row.precision,
            residuesPerSecond: row.esm2_residues_per_second,
            framesPerSecond: row.dnabert_s_frames_per_second,
            shareOfProducts: row.esm2_residues_per_second / row.products_residues_per_second,
          },
          problem: device.problem,
        };
      }),
      figures: JSON.stringify(kept.devices, null, 2),
    }
  );
}
