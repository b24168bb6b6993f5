const KEY = 'virnucpro.exampleRuns';

/** Which runs are the example is known to the window that began them; others see an ordinary run of the demo model. */
export function rememberExample(runId: string): void {
  try {
    localStorage.setItem(KEY, JSON.stringify([...exampleRuns(), runId].slice(-20)));
  } catch {
    // Without storage the example is an ordinary run after a reload.
  }
}

export const isExample = (runId: string) => exampleRuns().includes(runId);

function exampleRuns(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}
