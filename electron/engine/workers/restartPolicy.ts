const RESTARTS_WITHOUT_PROGRESS = 3;

export type RestartDecision = { restart: true; delayMs: number } | { restart: false };

/** Starts a worker again with back-off; after three restarts without a finished part its device is switched off. */
export function decideRestart(deathsWithoutProgress: number, baseDelayMs = 1000): RestartDecision {
  return deathsWithoutProgress > RESTARTS_WITHOUT_PROGRESS
    ? { restart: false }
    : { restart: true, delayMs: baseDelayMs * 2 ** (deathsWithoutProgress - 1) };
}
