import { titleOf } from '../../contract/errors.ts';
import { message, plain, type Message } from '../../contract/messages.ts';
import type { StepProgress } from '../../contract/rpc/index.ts';
import type { EnvironmentState } from './environmentState.ts';

/** Before the installer's steps come check and create; after them, verify. */
const BEFORE = 2;
const AFTER = 1;

/** Steps of a set-up that come before and after those of the environment. */
export interface OtherSteps {
  readonly before: number;
  readonly after: number;
  /** Those of the installer, where they are known ahead. */
  readonly installing?: number;
}
/** Until it is known which steps there are. */
const USUAL_STEPS = 3;
/** Sooner, a rate says nothing. */
const RATE_AFTER_SECONDS = 5;

/** Says of each state, in words for a window or a terminal, how far the set-up is. */
export function stepReporter(
  others: OtherSteps = { before: 0, after: 0 },
  now: () => number = Date.now,
): (state: EnvironmentState) => StepProgress {
  const begun = now();
  let stepCount = BEFORE + (others.installing ?? USUAL_STEPS) + AFTER;
  let title = '';
  let stepBegun = begun;
  return (state) => {
    if (state.state === 'creating' || state.state === 'installing')
      stepCount = BEFORE + state.stepCount + AFTER;
    if (state.state === 'installing' && state.title.text !== title) {
      title = state.title.text;
      stepBegun = now();
    }
    const own = stepProgress(state, stepCount);
    const progress = {
      ...own,
      stepNumber: others.before + own.stepNumber,
      stepCount: others.before + own.stepCount + others.after,
      elapsedSeconds: seconds(now() - begun),
    };
    if (state.state !== 'installing') return progress;
    const { bytesDone: done, bytesTotal: total } = state;
    return {
      ...progress,
      bytes: { done, total },
      remainingSeconds: remaining(done, total, seconds(now() - stepBegun)),
    };
  };
}

function remaining(done: number, total: number | null, elapsed: number): number | null {
  if (total === null || done <= 0 || elapsed < RATE_AFTER_SECONDS) return null;
  return Math.round((Math.max(0, total - done) * elapsed) / done);
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 1000);
}

function stepProgress(state: EnvironmentState, stepCount: number): StepProgress {
  const at = (
    stepNumber: number,
    step: Message,
    line = '',
    fraction: number | null = null,
  ): StepProgress => ({
    step: step.text,
    wording: step.wording,
    stepNumber,
    stepCount,
    fraction,
    line,
    finished: false,
    error: null,
  });
  switch (state.state) {
    case 'checking':
      return at(1, message('step.looking'));
    case 'waiting':
      return at(1, message('step.waiting'), `waiting for ${state.seconds} s`);
    case 'creating':
      return at(BEFORE, message('step.python'), `with ${state.basePython}`);
    case 'installing':
      return at(BEFORE + state.step, state.title, state.line, state.fraction);
    case 'verifying':
      return at(stepCount, message('step.verifying'));
    case 'ready':
      return {
        ...at(stepCount, plain(`Python ${state.environment.pythonVersion} is ready`)),
        finished: true,
      };
    case 'failed':
      return { ...at(stepCount, titleOf(state.error)), finished: true, error: state.error };
  }
}
