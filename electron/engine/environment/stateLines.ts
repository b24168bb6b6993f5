/** Tells a terminal or a log how the set-up goes: a line per step, and a sign of life every few seconds. */
import type { StepProgress } from '../../contract/rpc/index.ts';
import type { EnvironmentState } from './environmentState.ts';
import { stepReporter } from './stepProgress.ts';
import { formatBytes, formatDuration, formatEstimate, formatPercent } from '../format/format.ts';

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
    write(`  ${formatDuration((Date.now() - started) / 1000)} ${detail}`.trimEnd());

  return (progress) => {
    if (progress.finished) {
      clearInterval(timer);
      return;
    }
    timer ??= setInterval(signOfLife, SIGN_OF_LIFE_MS).unref();
    const percent = progress.fraction === null ? '' : `, ${formatPercent(progress.fraction)}`;
    detail = `${shortened(progress.line)}${percent}${remaining(progress.remainingSeconds)}`;
    if (progress.step === step) return;
    step = progress.step;
    started = Date.now();
    timer.refresh();
    const place = `[${progress.stepNumber}/${progress.stepCount}]`;
    const size = progress.bytes?.total ? ` (${formatBytes(progress.bytes.total)})` : '';
    const line = progress.line && !progress.bytes ? ` ${shortened(progress.line)}` : '';
    write(`${place} ${step}${line}${size} ...`);
  };
}

function remaining(seconds: number | null | undefined): string {
  return typeof seconds === 'number' ? `, about ${formatEstimate(Math.max(60, seconds))} left` : '';
}

function shortened(line: string): string {
  return line.length > DETAIL_LENGTH ? `${line.slice(0, DETAIL_LENGTH)} ...` : line;
}
