import { unwrap, appFailure } from '../../../contract/errors.ts';
import { message, type Message } from '../../../contract/messages.ts';
import type { ProbeResult } from '../../../contract/protocol/index.ts';
import type {
  Controls,
  MeasuredSpeed,
  ModelTests,
  CheckRequest,
  Checks,
} from '../../../contract/rpc/computer.ts';
import { choosePrecision, preferredPrecision } from '../../devices/choosePrecision.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import { selectDevices } from '../../devices/selectDevices.ts';
import { firstOfEachKind, lastControls, panelOf, runControls } from '../../devices/check/controls.ts';
import { withLastTest } from '../../devices/check/trial.ts';
import { checkPrecisions, lastPrecisions } from '../../devices/check/precision.ts';
import type { CheckOptions } from '../../devices/check/check.ts';
import { bestRow, keptSpeed, measureSpeed } from '../../devices/check/speed.ts';
import type { EngineContext } from '../../engineContext.ts';
import { listModels } from '../../models/listModels.ts';
import type { ResolvedModel } from '../../models/modelFolder.ts';
import { resolveModel } from '../../models/resolveModel.ts';
import { secondsMeasured } from '../questions/estimateRun.ts';
import type { SpeedHistory } from '../questions/speedHistory.ts';
import type { PythonEnvironmentManager } from './pythonEnvironmentManager.ts';
import { StepJob } from './stepJob.ts';

/** Duration for each device. */
const SPEED_SECONDS = 60;

/** The checks that a user can start: their last results, and those running, each at most once. */
export class UserChecks {
  private readonly pythonEnvironment: PythonEnvironmentManager;
  private readonly speeds: SpeedHistory;
  private readonly jobs = new Map<string, StepJob>();

  constructor(pythonEnvironment: PythonEnvironmentManager, speeds: SpeedHistory) {
    this.pythonEnvironment = pythonEnvironment;
    this.speeds = speeds;
  }

  async last(): Promise<Checks> {
    const context = await this.pythonEnvironment.context();
    return { models: await lastOfModels(context, this.speeds), speed: await lastSpeed(context) };
  }

  start(request: CheckRequest): StepJob {
    if (request.check === 'speed') {
      return this.job('speed', message('step.measuring_speed'), async (context, options) => {
        const { environment, paths } = context;
        const probe = unwrap(await probeDevices(environment));
        await measureSpeed(environment, paths, probe, SPEED_SECONDS, options);
      });
    }
    const { check, model } = request;
    const title = message(check === 'precision' ? 'step.precisions' : 'step.controls');
    return this.job(`${check} ${model}`, title, async (context, options) => {
      const { environment, paths } = context;
      const present = (await listModels(paths)).some((each) => each.id === model && each.present);
      if (!present) throw appFailure('model_unknown', `There is no model "${model}" on this computer.`);
      const resolved = unwrap(await resolveModel(model, paths));
      const { planModel } = resolved;
      const probe = await withLastTest(unwrap(await probeDevices(environment)), paths, environment);
      const devices = unwrap(selectDevices('auto', probe, resolved));
      if (check === 'precision')
        unwrap(await checkPrecisions(environment, paths, devices, planModel, options));
      else {
        const { driver_version: driver } = probe;
        unwrap(await runControls(environment, paths, devices, planModel, { ...options, driver }));
      }
    });
  }

  private job(
    name: string,
    title: Message,
    work: (context: EngineContext, options: CheckOptions) => Promise<void>,
  ): StepJob {
    const known = this.jobs.get(name);
    if (known) return known;
    const job = new StepJob(title, async (tell, signal) => {
      const at = { step: title.text, wording: title.wording };
      const onDevice = (device: string, stepNumber: number, stepCount: number) => {
        const line = `${device} (${stepNumber}/${stepCount})`;
        tell({ ...at, stepNumber, stepCount, fraction: null, line, finished: false, error: null });
      };
      const context = await this.pythonEnvironment.context();
      await context.warmWorkers?.release();
      await work(context, { onDevice, signal });
    });
    this.jobs.set(name, job);
    void job.ended.then(() => this.jobs.delete(name));
    return job;
  }

  /** Stops running tests, and waits for their end. */
  async stop(): Promise<void> {
    const jobs = [...this.jobs.values()];
    for (const job of jobs) job.cancel();
    await Promise.all(jobs.map(({ ended }) => ended));
  }
}

async function lastOfModels(context: EngineContext, speeds: SpeedHistory): Promise<ModelTests[]> {
  const { environment, paths } = context;
  const [models, probed] = await Promise.all([listModels(paths), probeDevices(environment)]);
  const probe = unwrap(probed);
  const usable = await withLastTest(probe, paths, environment);
  const present = models.filter((model) => model.present);
  return Promise.all(
    present.map(async ({ id, title }) => {
      const model = unwrap(await resolveModel(id, paths));
      const { planModel } = model;
      const controls = await lastControls(context, probe.driver_version, planModel.hash);
      return {
        model: id,
        title,
        hash: planModel.hash,
        precisions: await lastPrecisions(paths, planModel.hash),
        controls,
        ...(await pace({ ...context, speeds }, usable, model, controls)),
      };
    }),
  );
}

/**
 * Estimates how long the controls take, from the last ones, and how much a run computes; otherwise from
 * earlier runs or the measured speed.
 */
async function pace(
  context: EngineContext & { speeds: SpeedHistory },
  probe: ProbeResult,
  model: ResolvedModel,
  before: readonly Controls[],
): Promise<Pick<ModelTests, 'controlsSeconds' | 'chunksPerMinute'>> {
  const panel = panelOf(model.chunkLength);
  const selected = selectDevices('auto', probe, model);
  const devices = selected.ok ? selected.value : [];
  const precision = choosePrecision('auto', devices);
  const seconds = async (...question: [typeof devices, string]): Promise<number | null> => {
    const range = await secondsMeasured(context, model.planModel, panel, ...question);
    return range && (range.low + range.high) / 2;
  };
  const each = await Promise.all(
    firstOfEachKind(devices).map(async (device) => {
      const its = preferredPrecision(device);
      const last = before.find(
        (one) => one.kind === device.kind && one.precision === its && !one.panel.quick,
      );
      return last?.seconds ?? seconds([device], its);
    }),
  );
  const all = devices.length > 0 && precision.ok ? await seconds(devices, precision.value) : null;
  return {
    controlsSeconds: each.reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0) || null,
    chunksPerMinute: all && (60 * panel.chunks) / all,
  };
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
      figures: JSON.stringify({ packages: kept.packages, devices: kept.devices }, null, 2),
    }
  );
}
