import { isAtWork } from '../contract/runState.ts';
import type { RunSummary } from '../contract/rpc/runs.ts';

export interface Notice {
  title: string;
  body: string;
}

export const BATTERY_NOTICE: Notice = {
  title: 'Running on battery',
  body: 'A run takes much power. Connect the computer, or pause the run.',
};

/** The notification for a run that has stopped; null if the user stopped it. */
export function noticeOf(run: RunSummary): Notice | null {
  const { state, name } = run;
  switch (state.phase) {
    case 'done': {
      const failed = state.failedRecords > 0 ? `, ${state.failedRecords} sequences failed` : '';
      const viral = run.viralSequences === null ? '' : `${run.viralSequences} sequences called virus`;
      return { title: `${name} is done`, body: `${viral}${failed}` || 'The results are there.' };
    }
    case 'failed':
      return { title: `${name} could not go on`, body: state.error.cause };
    case 'paused':
      return state.error
        ? { title: `${name} needs attention`, body: `${state.error.title}. ${state.error.nextStep}` }
        : null;
    default:
      return null;
  }
}

interface TaskbarProgress {
  /** -1 for no bar, above 1 for progress without a known end. */
  value: number;
  mode: 'none' | 'normal' | 'indeterminate' | 'paused' | 'error';
}

/** What the taskbar shows: the running run, else that one waits for the user. */
export function taskbarProgress(runs: readonly RunSummary[]): TaskbarProgress {
  const active = runs.find(isAtWork);
  if (!active) return { value: -1, mode: 'none' };
  if (active.fraction === null) return { value: 2, mode: 'indeterminate' };
  const mode = active.state.phase === 'running' ? 'normal' : 'paused';
  return { value: active.fraction, mode };
}
