import type { Message, StepProgress } from '../../../electron/contract/index.ts';

/** Ends early if the call is cancelled. */
export const pause = (milliseconds: number, signal?: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Tells each new value. */
export async function* watched<Value>(of: () => Value, signal?: AbortSignal): AsyncGenerator<Value, void> {
  let shown: Value | undefined;
  while (!signal?.aborted) {
    if (of() !== shown) yield (shown = of());
    await pause(50, signal);
  }
}

/** Reports the progress of steps; `bytes`: of one that downloads. */
export async function* madeSteps(
  steps: readonly (Message & { readonly bytes?: number })[],
  everyMs = 120,
): AsyncGenerator<StepProgress, void> {
  let elapsedSeconds = 0;
  for (const [index, { text, wording, bytes }] of steps.entries())
    for (const fraction of [0, 0.25, 0.5, 0.75, 1]) {
      yield {
        ...{ step: text, wording, stepNumber: index + 1, stepCount: steps.length, fraction, elapsedSeconds },
        line: `${Math.round(fraction * 100)} %`,
        ...(bytes !== undefined && {
          bytes: { done: Math.round(bytes * fraction), total: bytes },
          remainingSeconds: Math.round((1 - fraction) * 90),
        }),
        finished: index === steps.length - 1 && fraction === 1,
        error: null,
      };
      elapsedSeconds += 6;
      await pause(everyMs);
    }
}
