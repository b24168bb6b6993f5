import { AppFailure } from '../../../contract/errors.ts';
import type { Result } from '../../../contract/result.ts';
import type { SetupSettings } from '../../../contract/rpc/computer.ts';
import type { EngineBase } from '../../engineBase.ts';
import type { EngineContext } from '../../engineContext.ts';
import { checkEnvironment } from '../../environment/checkEnvironment.ts';
import { networkVariables, readSetupSettings } from '../../environment/setupSettings.ts';
import type { PythonEnvironment } from '../../environment/pythonLaunch.ts';
import { setUp } from '../../setup/setUp.ts';
import { StepJob } from './stepJob.ts';

export interface PythonEnvironmentOptions {
  /** `--python` or VIRNUCPRO_PYTHON. */
  interpreter?: string | undefined;
  /** Where the caller has checked it already. */
  environment?: PythonEnvironment | undefined;
}

/** Stands before everything that needs Python, so that a window opens without it: checks the environment once, and sets it up when the user asks for it. */
export class PythonEnvironmentManager {
  private readonly base: EngineBase;
  private readonly interpreter: string | undefined;
  private found: Promise<Result<PythonEnvironment>>;
  private repairing: StepJob | undefined;

  constructor(base: EngineBase, options: PythonEnvironmentOptions) {
    this.base = base;
    this.interpreter = options.interpreter;
    this.found = options.environment
      ? Promise.resolve({ ok: true, value: options.environment })
      : this.look();
  }

  /** The whole engine; throws the AppFailure that says why there is no Python for it. */
  async context(): Promise<EngineContext> {
    const environment = await this.environment();
    if (!environment.ok) throw new AppFailure(environment.error);
    return { ...this.base, environment: environment.value };
  }

  environment(): Promise<Result<PythonEnvironment>> {
    return this.found;
  }

  /** Looks again at what was missing or broken before. */
  async recheck(): Promise<Result<PythonEnvironment>> {
    const before = await this.found;
    if (!before.ok && !this.repairing) this.found = this.look();
    return this.found;
  }

  repair(): StepJob {
    this.repairing ??= this.startSetUp();
    return this.repairing;
  }

  /** In place of a set-up from the network that may be under way. */
  async setUpFrom(folder: string): Promise<StepJob> {
    await this.stop();
    this.repairing = this.startSetUp(folder);
    return this.repairing;
  }

  get isRepairing(): boolean {
    return this.repairing !== undefined;
  }

  /** Gives up what is under way, and waits for its end. */
  async stop(): Promise<void> {
    this.repairing?.cancel();
    await this.repairing?.ended;
  }

  private look(): Promise<Result<PythonEnvironment>> {
    return checkEnvironment({ paths: this.base.paths, interpreter: this.interpreterNow() }, false);
  }

  /** The setting is read each time: it holds as soon as it is made. */
  private interpreterNow(): string | undefined {
    return this.interpreter ?? this.setup().interpreter ?? undefined;
  }

  private setup(): SetupSettings {
    return readSetupSettings(this.base.paths.usualDataDir);
  }

  private startSetUp(from?: string): StepJob {
    const job = new StepJob('Checking the Python environment', async (tell, signal) => {
      const result = await setUp({
        paths: this.base.paths,
        interpreter: this.interpreterNow(),
        env: networkVariables(this.setup()),
        repair: from === undefined && (await this.found).ok,
        from,
        signal,
        onProgress: (progress) => {
          // How it ended is told with what it made.
          if (!progress.finished) tell(progress);
        },
      });
      this.found = Promise.resolve(result.ok ? { ok: true, value: result.value.environment } : result);
      if (!result.ok) throw new AppFailure(result.error);
    });
    void job.ended.then(() => {
      if (this.repairing === job) this.repairing = undefined;
    });
    return job;
  }
}
