/** What to do with a part on which a worker has just died or run out of memory. */
export type FailedAttemptDecision = 'try_again' | 'bisect';

/**
 * A worker may die for reasons of its own, so a part gets a second chance whole: its scores then stay byte-identical.
 * After that it is cut in two until the sequences that do it are alone. The halves inherit the suspicion.
 */
export function decideAfterFailedAttempt(failedAttemptsBefore: number): FailedAttemptDecision {
  return failedAttemptsBefore === 0 ? 'try_again' : 'bisect';
}
