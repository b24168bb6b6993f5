import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_SIZE, fittingBounds, SMALLEST_SIZE } from './windowBounds.ts';

const laptop = { x: 0, y: 0, width: 1440, height: 860 };
const second = { x: 1440, y: -200, width: 2560, height: 1400 };

describe('fittingBounds', () => {
  it('puts a window back where it was', () => {
    const stored = { x: 1600, y: 100, width: 1200, height: 800 };
    expect(fittingBounds(stored, [laptop, second])).toEqual(stored);
  });

  it('does not put it on a screen that is no longer there', () => {
    const stored = { x: 1600, y: 100, width: 1200, height: 800 };
    expect(fittingBounds(stored, [laptop])).toEqual({ width: 1200, height: 800 });
  });

  it('starts with the default size, or the screen if that is smaller', () => {
    expect(fittingBounds(undefined, [second])).toEqual(DEFAULT_SIZE);
    expect(fittingBounds(undefined, [{ ...laptop, width: 1024, height: 700 }])).toEqual({
      width: 1024,
      height: 700,
    });
    expect(fittingBounds({ x: NaN, y: 0, width: 1, height: 1 }, [second])).toEqual(DEFAULT_SIZE);
  });

  it('always gives a window that can be dragged and used', () => {
    const number = fc.integer({ min: -5000, max: 5000 });
    const size = fc.integer({ min: 1, max: 6000 });
    const rectangle = fc.record({ x: number, y: number, width: size, height: size });
    fc.assert(
      fc.property(rectangle, fc.array(rectangle, { minLength: 1, maxLength: 3 }), (stored, screens) => {
        const bounds = fittingBounds(stored, screens);
        expect(bounds.width).toBeGreaterThanOrEqual(SMALLEST_SIZE.width);
        expect(bounds.height).toBeGreaterThanOrEqual(SMALLEST_SIZE.height);
        const { x, y } = bounds;
        if (x === undefined || y === undefined) return;
        const grasped = screens.some(
          (screen) =>
            y >= screen.y &&
            y <= screen.y + screen.height &&
            x < screen.x + screen.width &&
            x + bounds.width > screen.x,
        );
        expect(grasped).toBe(true);
      }),
    );
  });
});
