import { AppFailure, type AppError, ok, type Result } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type {
  EnvironmentStatus,
  SetUpPlan,
  SetupSettings,
  StepProgress,
} from '../../../contract/rpc/computer.ts';
import type { EngineBase, EngineContext } from '../../run/engineContext.ts';
import { type AppPaths, networkVariables, readSetupSettings } from '../../environment/appPaths.ts';
import { freeBytes } from '../../devices/computerChecks.ts';
import { checkEnvironment } from '../../environment/checkEnvironment.ts';
import { planSetUp } from '../../environment/install/setUpPlan.ts';
import { readStamp } from '../../environment/requirements.ts';
import type { PythonEnvironment } from '../../environment/pythonLaunch.ts';
import { LiveTopic } from '../changes.ts';
import { setUp } from '../../setup/setUp.ts';
import { StepJob } from './stepJob.ts';

const STATUS_INTERVAL_MS = 250;

export interface PythonEnvironmentOptions {
  /** `--python` or VIRNUCPRO_PYTHON. */
  interpreter?: string | undefined;
  /** Given if the caller has already checked it. */
  environment?: PythonEnvironment | undefined;
}

/**
 * Guards everything that needs Python, so that a window opens without it: checks the environment once, and
 * sets it up when the user asks for it.
 */
export class PythonEnvironmentManager {
  private readonly base: EngineBase;
  private readonly interpreter: string | undefined;
  private found: Promise<Result<PythonEnvironment>>;
  private repairing: StepJob | undefined;
  private progress: StepProgress | undefined;
  private planned: ReturnType<typeof planSetUp> | undefined;
  /** How the last set-up ended, until a later check has found an environment. */
  private lastEnd: { by: 'user' } | { by: 'error'; error: AppError } | undefined;
  private readonly topic = new LiveTopic<EnvironmentStatus>({
    take: () => this.status(),
    intervalMs: STATUS_INTERVAL_MS,
  });

  constructor(base: EngineBase, options: PythonEnvironmentOptions) {
    this.base = base;
    this.interpreter = options.interpreter;
    this.found = options.environment
      ? Promise.resolve({ ok: true, value: options.environment })
      : this.look();
  }

  /** The whole engine; throws the AppFailure that explains why there is no Python for it. */
  async context(): Promise<EngineContext> {
    const environment = await this.environment();
    if (!environment.ok) throw new AppFailure(environment.error);
    return { ...this.base, environment: environment.value };
  }

  get paths(): AppPaths {
    return this.base.paths;
  }

  environment(): Promise<Result<PythonEnvironment>> {
    return this.found;
  }

  /** Checks again what was missing or broken before. */
  async recheck(): Promise<Result<PythonEnvironment>> {
    const before = await this.found;
    if (!before.ok && !this.repairing) this.found = this.look();
    const after = await this.found;
    if (after.ok !== before.ok) this.topic.changed();
    return after;
  }

  /** Another interpreter, or other network settings, were entered. */
  settingsChanged(): void {
    if (this.repairing || this.interpreter !== undefined) return;
    this.lastEnd = undefined;
    this.found = this.look();
    void this.found.then(() => {
      this.topic.changed();
    });
  }

  /** Checks whether an interpreter can be used. */
  async tryInterpreter(interpreter: string): Promise<Result<PythonEnvironment>> {
    return checkEnvironment({ paths: this.base.paths, interpreter }, true);
  }

  /** Whether no environment of ours was ever completely set up, so that none can be broken. */
  async neverSetUp(): Promise<boolean> {
    if (this.interpreterNow() !== undefined || (await this.found).ok) return false;
    return (await readStamp(this.base.paths.environmentFolder)) === undefined;
  }

  watch(signal?: AbortSignal): AsyncGenerator<EnvironmentStatus, void> {
    return this.topic.watch(signal);
  }

  /** Starts a set-up, unless one is running. It continues whether or not a window follows it. */
  setUp(): StepJob {
    return (this.repairing ??= this.startSetUp());
  }

  /** Replaces a set-up from the network that may be running. */
  async setUpFrom(folder: string): Promise<StepJob> {
    await this.endSetUp();
    this.repairing = this.startSetUp({ from: folder });
    return this.repairing;
  }

  cancelSetUp(): void {
    if (!this.repairing) return;
    this.lastEnd = { by: 'user' };
    this.repairing.cancel();
  }

  get isRepairing(): boolean {
    return this.repairing !== undefined;
  }

  /** Cancels a running set-up, and waits for its end. */
  async stop(): Promise<void> {
    await this.endSetUp();
    await this.topic.close();
  }

  private async endSetUp(): Promise<void> {
    this.repairing?.cancel();
    await this.repairing?.ended;
  }

  private async status(): Promise<EnvironmentStatus> {
    const env = networkVariables(this.setup());
    if (this.repairing && this.progress) {
      const plan = await this.plan(env);
      return { state: 'setting_up', progress: this.progress, plan: plan.ok ? plan.value : null };
    }
    const found = await this.found;
    if (found.ok) {
      const { pythonVersion, packages } = found.value;
      return { state: 'ready', pythonVersion, torchVersion: packages['torch'] ?? null };
    }
    if (this.interpreterNow() !== undefined) return { state: 'interpreter_broken', error: found.error };
    const plan = await this.plan(env);
    if (!plan.ok) return { state: 'unsupported', error: plan.error };
    if (this.lastEnd?.by === 'user') return { state: 'cancelled', plan: plan.value };
    if (this.lastEnd) return { state: 'failed', error: this.lastEnd.error, plan: plan.value };
    return (await this.neverSetUp())
      ? { state: 'absent', plan: plan.value }
      : { state: 'broken', error: found.error, plan: plan.value };
  }

  /** Queries the drivers, which takes a moment, so the result is cached except for the disk space. */
  private async plan(env: NodeJS.ProcessEnv): Promise<Result<SetUpPlan>> {
    this.planned ??= planSetUp(this.base.paths, env);
    const plan = await this.planned;
    if (!plan.ok) return plan;
    return ok({ ...plan.value, diskFreeBytes: await freeBytes(plan.value.folder) });
  }

  private look(): Promise<Result<PythonEnvironment>> {
    return checkEnvironment({ paths: this.base.paths, interpreter: this.interpreterNow() }, false);
  }

  /** The setting is read each time, so that a change applies at once. */
  private interpreterNow(): string | undefined {
    return this.interpreter ?? this.setup().interpreter ?? undefined;
  }

  private setup(): SetupSettings {
    return readSetupSettings(this.base.paths.usualDataDir);
  }

  /** Follows the job like a window, so that a set-up does not end because nobody watches it. */
  private async follow(job: StepJob): Promise<void> {
    for await (const progress of job.follow()) {
      this.progress = progress;
      this.topic.changed();
    }
    await job.ended;
    // Another job may have replaced it.
    if (this.repairing !== job) return;
    this.repairing = undefined;
    this.progress = undefined;
    this.topic.changed();
  }

  private startSetUp({ from }: { from?: string } = {}): StepJob {
    const job = new StepJob(message('step.looking'), async (tell, signal) => {
      // A set-up may replace the files that their Python has open.
      await this.base.warmWorkers?.release();
      const result = await setUp({
        paths: this.base.paths,
        interpreter: this.interpreterNow(),
        env: networkVariables(this.setup()),
        repair: from === undefined && (await this.found).ok,
        from,
        signal,
        onProgress: (progress) => {
          // The end is reported below, together with the resulting environment.
          if (!progress.finished) tell(progress);
        },
      });
      // A set-up that was cancelled or failed may have left a working environment.
      const left = result.ok ? ok(result.value.environment) : await this.look();
      this.found = Promise.resolve(left.ok || result.ok ? left : result);
      if (result.ok) this.lastEnd = undefined;
      else if (this.lastEnd?.by !== 'user') this.lastEnd = { by: 'error', error: result.error };
      if (!result.ok) throw new AppFailure(result.error);
    });
    this.lastEnd = undefined;
    void this.follow(job);
    return job;
  }
}
