/** Tells a terminal or a log how the set-up goes: a line per step, and a sign of life every few seconds. */
import type { StepProgress } from '../../contract/rpc/index.ts';
import type { EnvironmentState } from './environmentState.ts';
import { stepReporter } from './stepProgress.ts';

const SIGN_OF_LIFE_MS = 10_000;
const DETAIL_LENGTH = 90;

/** Nothing is written where all is in place already. */
export function stateLines(write: (line: string) => void): (state: EnvironmentState) => void {
  const report = stepReporter();
  const tell = stepLines(write);
  let begun = false;
  return (state) => {
    const isEnd = state.state === 'ready' || state.state === 'failed';
    begun ||= !isEnd && state.state !== 'checking';
    if (begun) tell(report(state));
  };
}

/** A line when a step begins, with its size, and how far it is every few seconds. */
export function stepLines(write: (line: string) => void): (progress: StepProgress) => void {
  let step = '';
  let detail = '';
  let started = Date.now();
  let timer: NodeJS.Timeout | undefined;
  const signOfLife = (): void =>
    write(`  ${Math.round((Date.now() - started) / 1000)} s ${detail}`.trimEnd());

  return (progress) => {
    if (progress.finished) {
      clearInterval(timer);
      return;
    }
    timer ??= setInterval(signOfLife, SIGN_OF_LIFE_MS).unref();
    const percent = progress.fraction === null ? '' : `, ${Math.floor(progress.fraction * 100)} %`;
    detail = `${shortened(progress.line)}${percent}${remainingWords(progress.remainingSeconds)}`;
    if (progress.step === step) return;
    step = progress.step;
    started = Date.now();
    timer.refresh();
    const place = `[${progress.stepNumber}/${progress.stepCount}]`;
    const size = progress.bytes?.total ? ` (${megabytes(progress.bytes.total)} MB)` : '';
    const line = progress.line && !progress.bytes ? ` ${shortened(progress.line)}` : '';
    write(`${place} ${step}${line}${size} ...`);
  };
}

function remainingWords(seconds: number | null | undefined): string {
  return seconds === null || seconds === undefined
    ? ''
    : `, about ${Math.max(1, Math.round(seconds / 60))} min left`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

function shortened(line: string): string {
  return line.length > DETAIL_LENGTH ? `${line.slice(0, DETAIL_LENGTH)} ...` : line;
}
