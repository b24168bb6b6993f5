/** The part of a scrolled element that matters here. */
export interface Scroller {
  scrollTop: number;
  readonly scrollHeight: number;
  readonly clientHeight: number;
}

/** Firefox lets an element be 17.9 million pixels high, Chromium 33.5. */
export const MOST_PIXELS = 15_000_000;

/**
 * Scrolls through more than an element can be high. Short ways are as long as they look; a jump, as with the scroll bar, goes to the
 * same share of the whole. Where nothing moves, `settle` puts the scroll bar where it belongs, and both ends are always reached.
 */
export class LongScroll {
  /** How far down in the whole. */
  offset = 0;
  private place = 0;

  /** What the rows have to be moved up by. */
  get shift(): number {
    return this.offset - this.place;
  }

  /** The element was scrolled; `hidden` is by how much it is too short. */
  moved(scroller: Scroller, hidden: number): void {
    const before = this.place;
    this.place = scroller.scrollTop;
    const way = this.place - before;
    // A fraction of a pixel is lost where a program scrolls.
    if (hidden > 0 && Math.abs(way) < 1) {
      this.offset += way;
      return;
    }
    const { most, mostOffset } = limits(scroller, hidden);
    const isJump = Math.abs(way) > 2 * scroller.clientHeight;
    if (hidden === 0 || this.place <= 0 || this.place >= most - 1 || isJump)
      this.offset = most <= 0 ? 0 : Math.min(mostOffset, (Math.max(0, this.place) / most) * mostOffset);
    else this.offset = Math.max(0, Math.min(mostOffset, this.offset + way));
  }

  goTo(scroller: Scroller, hidden: number, offset: number): void {
    this.offset = Math.max(0, Math.min(limits(scroller, hidden).mostOffset, offset));
    this.settle(scroller, hidden);
  }

  /** Nothing is seen of it: the rows in sight stay there. */
  settle(scroller: Scroller, hidden: number): void {
    const { most, mostOffset } = limits(scroller, hidden);
    this.place = mostOffset <= 0 ? 0 : (this.offset / mostOffset) * most;
    scroller.scrollTop = this.place;
  }
}

function limits(
  { scrollHeight, clientHeight }: Scroller,
  hidden: number,
): { most: number; mostOffset: number } {
  const most = Math.max(0, scrollHeight - clientHeight);
  return { most, mostOffset: most + hidden };
}
