import { plain, type Message } from '../../contract/messages.ts';
import type { StepProgress } from '../../contract/rpc/computer.ts';

export interface CountedSteps {
  readonly begin: (step: Message, total?: number | null) => void;
  /** How far the step is. */
  readonly at: (done: number, line?: string) => void;
  /** More bytes of the step are done. */
  readonly more: (bytes: number) => void;
}

/** Reports which of a fixed number of steps is under way, and how far it is. */
export function countedSteps(
  stepCount: number,
  report: (progress: StepProgress) => void,
  first = 1,
): CountedSteps {
  const begun = Date.now();
  let stepNumber = first - 1;
  let step = plain('');
  let line = '';
  let done = 0;
  let total: number | null = null;
  const say = (): void =>
    report({
      step: step.text,
      wording: step.wording,
      stepNumber,
      stepCount,
      fraction: total ? Math.min(1, done / total) : null,
      line,
      ...(total || done ? { bytes: { done: Math.round(done), total } } : {}),
      elapsedSeconds: Math.round((Date.now() - begun) / 1000),
      finished: false,
      error: null,
    });
  return {
    begin(title, size = null) {
      stepNumber += 1;
      [step, line, done, total] = [title, '', 0, size];
      say();
    },
    at(bytes, newLine = line) {
      [done, line] = [bytes, newLine];
      say();
    },
    more(bytes) {
      done += bytes;
      say();
    },
  };
}
