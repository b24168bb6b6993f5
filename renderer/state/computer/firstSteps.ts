import {
  resultsOf,
  type AppError,
  type CheckedModel,
  type Checks,
  type EnvironmentStatus,
  type LastResult,
  type ModelStatus,
  type RunSummary,
  type SetUpPlan,
  type StepProgress,
} from '../../../electron/contract/index.ts';

/*
 * Tracks a new user's way to the first result. Nothing of this is stored: it is derived from what exists, so that
 * a user who closes the window and comes back continues at the same step.
 */

export type SetUpStep =
  | { readonly state: 'looking' }
  | { readonly state: 'todo'; readonly how: 'set_up' | 'repair' | 'go_on'; readonly plan: SetUpPlan }
  | { readonly state: 'working'; readonly progress: StepProgress; readonly plan: SetUpPlan | null }
  | { readonly state: 'failed'; readonly error: AppError; readonly plan: SetUpPlan }
  /** Only the user can fix this; setting up again would not help. */
  | { readonly state: 'impossible'; readonly error: AppError; readonly remedy: 'interpreter' | 'none' }
  | { readonly state: 'done'; readonly pythonVersion: string; readonly torchVersion: string | null };

export type ExampleStep =
  | { readonly state: 'later' }
  | { readonly state: 'todo' }
  | { readonly state: 'working'; readonly runId: string; readonly fraction: number | null }
  | { readonly state: 'stopped'; readonly runId: string; readonly error: AppError | null }
  | { readonly state: 'done'; readonly runId: string };

export type ModelStep =
  | { readonly state: 'later' }
  | { readonly state: 'looking' }
  | { readonly state: 'todo' }
  | { readonly state: 'done'; readonly titles: readonly string[] };

/** Whether an installed model tells viruses from hosts on this computer. */
export type CheckStep =
  | { readonly state: 'later' }
  | {
      readonly state: 'todo' | 'done';
      readonly models: readonly (CheckedModel & { readonly results: readonly LastResult[] })[];
    };

type FilesStep = { readonly state: 'later' | 'ready' | 'without_model' };

export type StepName = 'setUp' | 'example' | 'model' | 'check' | 'files';

interface FirstSteps {
  readonly setUp: SetUpStep;
  readonly example: ExampleStep;
  readonly model: ModelStep;
  readonly check: CheckStep;
  readonly files: FilesStep;
  /** The next step to do. */
  readonly current: StepName;
}

export interface FirstFacts {
  /** Null until the engine has answered. */
  readonly environment: EnvironmentStatus | null;
  readonly models: readonly ModelStatus[] | null;
  readonly checks: Checks | null;
  readonly example: Pick<RunSummary, 'runId' | 'state' | 'interrupted' | 'fraction'> | null;
  /** Steps that the user has put off in this window. */
  readonly putOff: ReadonlySet<StepName>;
}

export function firstSteps({ environment, models, checks, example, putOff }: FirstFacts): FirstSteps {
  const setUp = setUpStep(environment);
  const isSetUp = setUp.state === 'done';
  const steps = {
    setUp,
    example: isSetUp ? exampleStep(example) : ({ state: 'later' } as const),
    model: isSetUp ? modelStep(models) : ({ state: 'later' } as const),
    check: isSetUp ? checkStep(models, checks) : ({ state: 'later' } as const),
  };
  const isOpen = (name: 'example' | 'model') => steps[name].state !== 'done' && !putOff.has(name);
  const isChecked = steps.check.state !== 'todo' || putOff.has('check');
  const current = !isSetUp
    ? 'setUp'
    : isOpen('example')
      ? 'example'
      : isOpen('model')
        ? 'model'
        : isChecked
          ? 'files'
          : 'check';
  const files: FilesStep =
    current !== 'files'
      ? { state: 'later' }
      : { state: steps.model.state === 'done' ? 'ready' : 'without_model' };
  return { ...steps, files, current };
}

function setUpStep(environment: EnvironmentStatus | null): SetUpStep {
  if (environment === null) return { state: 'looking' };
  switch (environment.state) {
    case 'checking':
      return { state: 'looking' };
    case 'absent':
      return { state: 'todo', how: 'set_up', plan: environment.plan };
    case 'broken':
      return { state: 'todo', how: 'repair', plan: environment.plan };
    case 'cancelled':
      return { state: 'todo', how: 'go_on', plan: environment.plan };
    case 'setting_up':
      return { state: 'working', progress: environment.progress, plan: environment.plan };
    case 'failed':
      return { state: 'failed', error: environment.error, plan: environment.plan };
    case 'interpreter_broken':
      return { state: 'impossible', error: environment.error, remedy: 'interpreter' };
    case 'unsupported':
      return { state: 'impossible', error: environment.error, remedy: 'none' };
    case 'ready':
      return {
        state: 'done',
        pythonVersion: environment.pythonVersion,
        torchVersion: environment.torchVersion,
      };
  }
}

function exampleStep(example: FirstFacts['example']): ExampleStep {
  if (example === null) return { state: 'todo' };
  const { runId, state, interrupted, fraction } = example;
  if (state.phase === 'done') return { state: 'done', runId };
  const isStopped =
    interrupted || state.phase === 'paused' || state.phase === 'failed' || state.phase === 'cancelled';
  if (isStopped) return { state: 'stopped', runId, error: 'error' in state ? state.error : null };
  return { state: 'working', runId, fraction };
}

/** The teaching model does not count as usable for real work. */
const usable = (models: readonly ModelStatus[]) =>
  models.filter((model) => model.notice === null && model.present && model.problem === null);

function modelStep(models: FirstFacts['models']): ModelStep {
  if (models === null) return { state: 'looking' };
  const real = usable(models);
  return real.length > 0 ? { state: 'done', titles: real.map(({ title }) => title) } : { state: 'todo' };
}

function checkStep(models: FirstFacts['models'], checks: FirstFacts['checks']): CheckStep {
  const ids = usable(models ?? []).map(({ id }) => id);
  const controls = resultsOf(checks?.results ?? [], 'controls');
  const real = (checks?.models ?? [])
    .filter(({ model }) => ids.includes(model))
    .map((one) => ({ ...one, results: controls.filter(({ model }) => model === one.hash) }));
  if (real.length === 0) return { state: 'later' };
  return { state: real.some(({ results }) => results.length > 0) ? 'done' : 'todo', models: real };
}
