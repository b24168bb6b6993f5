import { isAtWork } from '../contract/runState.ts';
import type { RunSummary } from '../contract/rpc/runs.ts';
import type { ShellTexts } from './shellTexts.ts';

export interface Notice {
  title: string;
  body: string;
}

/** The notification for a run that has stopped; null if the user stopped it. */
export function noticeOf(run: RunSummary, t: ShellTexts): Notice | null {
  const { state, name } = run;
  switch (state.phase) {
    case 'done': {
      const counts = [
        ...(run.viralSequences === null ? [] : [t('shell.notice.viral', { count: run.viralSequences })]),
        ...(state.failedRecords > 0 ? [t('shell.notice.failed', { count: state.failedRecords })] : []),
      ];
      return {
        title: t('shell.notice.done', { name }),
        body: counts.join(', ') || t('shell.notice.resultsAreThere'),
      };
    }
    case 'failed':
      return { title: t('shell.notice.couldNotGoOn', { name }), body: state.error.cause };
    case 'paused':
      return state.error
        ? {
            title: t('shell.notice.needsAttention', { name }),
            body: `${state.error.title}. ${state.error.nextStep}`,
          }
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
