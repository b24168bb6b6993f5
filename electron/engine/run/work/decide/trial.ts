/**
 * How a part is tried. A worker also dies of other things than its parts: somebody ends it, or the memory goes
 * to another program. So each failure moves a part to a stage in which less else can be the reason.
 */
export type Stage =
  /** Has not failed: computed in its turn, while its worker already reads the next part. */
  | 'in_turn'
  /** Has failed: computed after all of those, alone on its device. */
  | 'again'
  /** Has failed again: computed while nothing else is, on any device. */
  | 'alone';

export interface Trial {
  readonly stage: Stage;
  /** Its failures in this session since a worker last died of something else. */
  readonly inRow: number;
  /** How many workers had died in this session by its last failure. */
  readonly deaths: number;
}

/** Failures in a row, the last one alone, after which the part is cut in two. */
export const CUT_AFTER = 2;
/** For a part that can't be cut: it is tried alone once more, then its sequences are reported as failed. */
export const GIVEN_UP_AFTER = CUT_AFTER + 1;

/**
 * At the start of a session nothing is held against a part: it takes two failures in one session to blame it.
 * One that has failed in an earlier session only waits until the others are computed.
 */
export function firstTrial(hasFailedBefore: boolean): Trial {
  return { stage: hasFailedBefore ? 'again' : 'in_turn', inRow: 0, deaths: 0 };
}

/**
 * `before` and `now` are the numbers of workers that have died in this session: before the failure, and with
 * the worker that died of it, if one did.
 */
export function afterFailure({ stage, inRow, deaths }: Trial, before: number, now: number): Trial {
  return {
    stage: stage === 'in_turn' ? 'again' : 'alone',
    inRow: deaths === before ? inRow + 1 : 1,
    deaths: now,
  };
}

/** One of the halves holds the cause, and the last failure was its own, too. */
export function trialOfHalf({ deaths }: Trial): Trial {
  return { stage: 'alone', inRow: 1, deaths };
}
