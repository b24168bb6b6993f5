import type { CheckedModel, CheckName, CheckRequest, CheckResult, Checks } from '../../../contract/checks.ts';
import { unwrap, usage, type Result } from '../../../contract/errors.ts';
import { judgedOf } from '../../../contract/looks.ts';
import { message } from '../../../contract/messages.ts';
import type { ProbeResult } from '../../../contract/protocol/index.ts';
import { choosePrecision } from '../../devices/choosePrecision.ts';
import { devicesToTest, lastResults, runCheck, type Check } from '../../devices/check/check.ts';
import { probeDevices } from '../../devices/probeDevices.ts';
import { selectDevices } from '../../devices/selectDevices.ts';
import { withLastTest } from '../../devices/check/trial.ts';
import type { EngineContext } from '../../run/engineContext.ts';
import { inspectUsable } from '../../inputs/collectInputs.ts';
import { listModels } from '../../models/listModels.ts';
import { resolveModel } from '../../models/resolveModel.ts';
import { secondsMeasured } from '../questions/estimateRun.ts';
import type { SpeedHistory } from '../questions/speedHistory.ts';
import type { PythonEnvironmentManager } from './pythonEnvironmentManager.ts';
import { StepJob } from './stepJob.ts';

export type CheckWish = Omit<Check, 'check' | 'devices' | 'driver' | 'model' | 'precision'> & {
  /** As for a run. */
  readonly devices?: string;
  readonly precision?: 'auto' | NonNullable<Check['precision']>;
};

/** Runs a check on the devices that a run would use, with a model where the check needs one. */
export async function checkThisComputer(
  context: EngineContext,
  { check, model: name }: { check: CheckName; model?: string | undefined },
  { devices: wanted = 'auto', precision: asked = 'auto', ...options }: CheckWish = {},
): Promise<Result<CheckResult[]>> {
  const found = unwrap(await probeDevices(context.environment));
  const driver = found.driver_version;
  // What failed before is tried again.
  if (check === 'devices')
    return runCheck(context, { ...options, check, driver, devices: devicesToTest(found) });
  const probe = await withLastTest(context, found);
  if (check === 'speed')
    return runCheck(context, { ...options, check, driver, devices: devicesToTest(probe) });
  const model = unwrap(await resolveModel(name ?? '', context.paths));
  const devices = unwrap(selectDevices(wanted, probe, model));
  // Each device's own unless one is requested; then what a run would compute in.
  const precision = asked === 'auto' ? undefined : unwrap(choosePrecision(asked, devices));
  const reading = { looks: [String(model.chunkLength)], repairs: [] };
  const files = options.inputs?.length ? unwrap(await inspectUsable(context, options.inputs, reading)) : [];
  if (files.length > 0 && !judgedOf(files, String(model.chunkLength))?.frames)
    throw usage('No chunk of these files has an open reading frame.', 'Choose longer sequences.');
  const inputs = files.map(({ path }) => path);
  return runCheck(context, { ...options, inputs, check, driver, devices, precision, model: model.planModel });
}

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
    const [models, probed] = await Promise.all([
      listModels(context.paths),
      probeDevices(context.environment),
    ]);
    const probe = await withLastTest(context, unwrap(probed));
    const present = models.filter((model) => model.present);
    return {
      results: await lastResults(context, probe.driver_version),
      models: await Promise.all(
        present.map(({ id }) => checkedModel({ ...context, speeds: this.speeds }, id, probe)),
      ),
    };
  }

  start(request: CheckRequest): StepJob {
    const { check, model } = request;
    const name = `${check} ${model ?? ''}`;
    const known = this.jobs.get(name);
    if (known) return known;
    const title = message(`step.${check}`);
    const job = new StepJob(title, async (tell, signal) => {
      const at = { step: title.text, wording: title.wording };
      const onDevice = (device: string, stepNumber: number, stepCount: number) => {
        const line = `${device} (${stepNumber}/${stepCount})`;
        tell({ ...at, stepNumber, stepCount, fraction: null, line, finished: false, error: null });
      };
      const context = await this.pythonEnvironment.context();
      await context.warmWorkers?.release();
      unwrap(await checkThisComputer(context, request, { onDevice, signal }));
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

/**
 * The size of the panel for models of this chunk length: sequences of one chunk each, and their open reading
 * frames.
 */
export const panelOf = (chunkLength: number) =>
  chunkLength >= 500
    ? { chunks: 260, frames: 311, residues: 51_626 }
    : { chunks: 260, frames: 371, residues: 36_853 };

/** Estimates from earlier runs or the measured speed how much a run with the model computes. */
async function checkedModel(
  context: EngineContext & { speeds: SpeedHistory },
  id: string,
  probe: ProbeResult,
): Promise<CheckedModel> {
  const model = unwrap(await resolveModel(id, context.paths));
  const { planModel, chunkLength } = model;
  const selected = selectDevices('auto', probe, model);
  const devices = selected.ok ? selected.value : [];
  const precision = choosePrecision('auto', devices);
  const panel = panelOf(chunkLength);
  const range =
    devices.length > 0 && precision.ok
      ? await secondsMeasured(context, planModel, panel, devices, precision.value)
      : null;
  const chunksPerMinute = range && (120 * panel.chunks) / (range.low + range.high);
  return { model: id, title: planModel.title, hash: planModel.hash, chunksPerMinute };
}
