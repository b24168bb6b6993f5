import type { AppError } from '../contract/errors.ts';
import { wordsOf, type Language } from '../contract/problems.ts';
import { isAtWork } from '../contract/runState.ts';
import type { RunSummary } from '../contract/rpc/runs.ts';
import { shellTexts } from './shellTexts.ts';

export interface Notice {
  title: string;
  body: string;
}

/** The notification for a run that has stopped; null if the user stopped it. */
export function noticeOf(run: RunSummary, language: Language): Notice | null {
  const { state, name } = run;
  const t = shellTexts(language);
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
      return { title: t('shell.notice.couldNotGoOn', { name }), body: toldIn(language, state.error).cause };
    case 'paused': {
      if (!state.error) return null;
      const { title, nextStep } = toldIn(language, state.error);
      return { title: t('shell.notice.needsAttention', { name }), body: `${title}. ${nextStep}` };
    }
    default:
      return null;
  }
}

/** An error in the language of the window; the engine's own words for this very case are English. */
export function toldIn(language: Language, error: AppError): Pick<AppError, 'title' | 'cause' | 'nextStep'> {
  if (language === 'en') return error;
  const { title, next } = wordsOf(error.code, language);
  return { title, cause: title, nextStep: next };
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
