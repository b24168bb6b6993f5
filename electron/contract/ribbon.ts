/** Is added to a step of a ribbon, whose scores end at 100, where a second look judged. */
export const RIBBON_LOOKED_AGAIN = 1000;
/** With more steps than this, there is no space for gaps between them. */
const WIDEST_GAPS = 24;
/** Height of a step without a score, in percent. */
const EMPTY_STEP = 6;
/** Height of the mark at the top of a step that a second look judged. */
const MARK = 14;

export const isLookedAgain = (step: number): boolean => Math.abs(step) > RIBBON_LOOKED_AGAIN;

/**
 * The scores along a sequence as SVG paths, one step wide and 100 high: a bar for each chunk, or one for
 * several chunks of a long sequence.
 */
export function ribbonPaths(steps: readonly number[]) {
  const width = steps.length > WIDEST_GAPS ? 1 : 0.88;
  const path = (has: (step: number) => boolean, isMark = false) =>
    steps
      .map((step, i) => {
        const height = isMark ? MARK : Math.abs(step % RIBBON_LOOKED_AGAIN) || EMPTY_STEP;
        const base = isMark ? MARK : 100;
        return has(step) ? `M${i} ${base}v${-height}h${width}v${height}z` : '';
      })
      .join('');
  return {
    virus: path((step) => step > 0),
    others: path((step) => step < 0),
    not_scored: path((step) => step === 0),
    again: path(isLookedAgain, true),
  };
}
