import { describe, expect, it } from 'vitest';
import { LongScroll, MOST_PIXELS, type Scroller } from './longScroll.ts';

const VIEW = 600;

/** An element of the browser: it keeps whole pixels only, and goes no farther than its ends. */
function element(): Scroller {
  let top = 0;
  return {
    get scrollTop() {
      return top;
    },
    set scrollTop(value) {
      top = Math.round(Math.max(0, Math.min(MOST_PIXELS - VIEW, value)));
    },
    scrollHeight: MOST_PIXELS,
    clientHeight: VIEW,
  };
}

describe('scrolling through ten million rows', () => {
  const whole = 380_000_000;
  const hidden = whole - MOST_PIXELS;

  it('reaches both ends and every share between with the scroll bar', () => {
    const [scroller, scroll] = [element(), new LongScroll()];
    for (const share of [1, 0.5, 0.25, 0]) {
      scroller.scrollTop = share * (MOST_PIXELS - VIEW);
      scroll.moved(scroller, hidden);
      expect(Math.abs(scroll.offset - share * (whole - VIEW))).toBeLessThan(20);
    }
    expect(scroll.offset).toBe(0);
  });

  it('goes as far as the wheel turns, also after a rest, and in either direction', () => {
    const [scroller, scroll] = [element(), new LongScroll()];
    scroll.goTo(scroller, hidden, 100_000_000);
    expect(Math.round(scroll.offset)).toBe(100_000_000);
    for (const way of [120, 120, -240, 40]) {
      const before = scroll.offset;
      scroller.scrollTop += way;
      scroll.moved(scroller, hidden);
      expect(Math.abs(scroll.offset - before - way)).toBeLessThanOrEqual(1);
      // A rest moves the scroll bar, and no row.
      const resting = scroll.offset;
      scroll.settle(scroller, hidden);
      scroll.moved(scroller, hidden);
      expect(Math.abs(scroll.offset - resting)).toBeLessThanOrEqual(1);
    }
  });

  it('shows the last row when it is asked for', () => {
    const [scroller, scroll] = [element(), new LongScroll()];
    scroll.goTo(scroller, hidden, Infinity);
    expect(scroll.offset).toBe(whole - VIEW);
    expect(scroll.shift + MOST_PIXELS).toBe(whole);
  });

  it('is the element itself where all fits', () => {
    const [scroller, scroll] = [element(), new LongScroll()];
    for (const top of [0, 37, 9000, 12]) {
      scroller.scrollTop = top;
      scroll.moved(scroller, 0);
      expect([scroll.offset, scroll.shift]).toEqual([top, 0]);
    }
  });
});
