/** Tells a terminal or a log how the set-up goes: a line per step, and a sign of life every few seconds. */
import type { EnvironmentState } from './environmentState.ts';
import type { RequirementSet } from './requirements.ts';
import { stepProgress } from './stepProgress.ts';

const SIGN_OF_LIFE_MS = 10_000;
const DETAIL_LENGTH = 90;

/** Nothing is written where all is in place already. */
export function stateLines(
  write: (line: string) => void,
  set: RequirementSet = 'run',
): (state: EnvironmentState) => void {
  let step = '';
  let detail = '';
  let started = Date.now();
  let timer: NodeJS.Timeout | undefined;
  const signOfLife = (): void =>
    write(`  ${Math.round((Date.now() - started) / 1000)} s ${detail}`.trimEnd());

  return (state) => {
    if (state.state === 'ready' || state.state === 'failed') {
      clearInterval(timer);
      return;
    }
    if (state.state === 'checking') return;
    timer ??= setInterval(signOfLife, SIGN_OF_LIFE_MS).unref();
    const progress = stepProgress(state, set);
    const percent = progress.fraction === null ? '' : `, ${Math.floor(progress.fraction * 100)} %`;
    detail = `${shortened(progress.line)}${percent}`;
    if (progress.step === step) return;
    step = progress.step;
    started = Date.now();
    timer.refresh();
    const place = `[${progress.stepNumber}/${progress.stepCount}]`;
    write(`${place} ${step}${state.state === 'creating' ? ` ${progress.line}` : ''} ...`);
  };
}

function shortened(line: string): string {
  return line.length > DETAIL_LENGTH ? `${line.slice(0, DETAIL_LENGTH)} ...` : line;
}
