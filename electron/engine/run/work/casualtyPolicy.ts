/** What to do with a part that has just cost a worker its life or its memory. */
export type CasualtyDecision = 'try_again' | 'bisect';

/**
 * A worker may die for reasons of its own, so a part gets a second chance whole: its scores then stay byte-identical.
 * After that it is cut in two until the sequences that do it are alone. The halves inherit the suspicion.
 */
export function decideAfterCasualty(casualtiesBefore: number): CasualtyDecision {
  return casualtiesBefore === 0 ? 'try_again' : 'bisect';
}
