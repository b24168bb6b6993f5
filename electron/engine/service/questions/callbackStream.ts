/** Turns a function that reports through a callback into a stream. It ends with the function; leaving the loop aborts the function. */
export async function* callbackStream<Event>(
  produce: (tell: (event: Event) => void, signal: AbortSignal) => Promise<void>,
  outer?: AbortSignal,
): AsyncGenerator<Event, void> {
  const abort = new AbortController();
  const signal = outer ? AbortSignal.any([outer, abort.signal]) : abort.signal;
  const pending: Event[] = [];
  let wake: () => void = () => undefined;
  let outcome: { failed: false } | { failed: true; reason: unknown } | undefined;
  const tell = (event: Event): void => {
    pending.push(event);
    wake();
  };
  produce(tell, signal)
    .then(
      () => ({ failed: false }) as const,
      (reason: unknown) => ({ failed: true, reason }) as const,
    )
    .then((settled) => {
      outcome = settled;
      wake();
    })
    .catch(() => undefined);
  try {
    for (;;) {
      const event = pending.shift();
      if (event !== undefined) yield event;
      else if (outcome?.failed) throw outcome.reason;
      else if (outcome) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    abort.abort();
  }
}
