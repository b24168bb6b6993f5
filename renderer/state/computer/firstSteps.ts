import {
  resultsOf,
  type CheckedModel,
  type Checks,
  type EnvironmentStatus,
  type LastResult,
  type ModelStatus,
  type RunSummary,
} from '../../../electron/contract/index.ts';

/*
 * Tracks a new user's way to the first result. Nothing of this is stored: it is derived from what exists, so that
 * a user who closes the window and comes back continues at the same step.
 */

export const STEPS = ['setUp', 'example', 'model', 'check', 'files'] as const;
export type StepName = (typeof STEPS)[number];

export interface FirstFacts {
  /** Null until the engine has answered. */
  readonly environment: EnvironmentStatus | null;
  readonly models: readonly ModelStatus[] | null;
  readonly checks: Checks | null;
  readonly example: Pick<RunSummary, 'state'> | null;
  /** Steps that the user has put off in this window. */
  readonly putOff: ReadonlySet<StepName>;
}

interface FirstSteps {
  /** The next step to do. */
  readonly current: StepName;
  readonly isDone: Readonly<Record<StepName, boolean>>;
  /** Installed models for real work, which the teaching model is not. */
  readonly usable: readonly ModelStatus[];
  /** Those of them whose answers for known sequences can be checked, with the last answers. */
  readonly checked: readonly (CheckedModel & { readonly results: readonly LastResult[] })[];
}

export function firstSteps({ environment, models, checks, example, putOff }: FirstFacts): FirstSteps {
  const isSetUp = environment?.state === 'ready';
  const usable = ((isSetUp && models) || []).filter(
    (model) => model.notice === null && model.present && model.problem === null,
  );
  const controls = resultsOf(checks?.results ?? [], 'controls');
  const checked = (checks?.models ?? [])
    .filter(({ model }) => usable.some(({ id }) => id === model))
    .map((one) => ({ ...one, results: controls.filter(({ model }) => model === one.hash) }));
  const isDone = {
    setUp: isSetUp,
    example: isSetUp && example?.state.phase === 'done',
    model: usable.length > 0,
    check: checked.some(({ results }) => results.length > 0),
    files: false,
  };
  const isOpen = (name: StepName) =>
    name === 'setUp'
      ? !isSetUp
      : !isDone[name] && !putOff.has(name) && (name !== 'check' || checked.length > 0);
  return { current: STEPS.find(isOpen) ?? 'files', isDone, usable, checked };
}
