export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

export const DEFAULT_SIZE = { width: 1440, height: 900 } as const;
export const SMALLEST_SIZE = { width: 900, height: 600 } as const;
/** At least this much of the window's top must be on a screen, so that it can be dragged. */
const GRIP = { width: 120, height: 30 } as const;

/**
 * Bounds for a new window: the previous ones, unless their screen is missing or smaller now. Without a
 * position the system puts the window in the middle.
 */
export function fittingBounds(
  stored: Rectangle | undefined,
  screens: readonly Rectangle[],
): { width: number; height: number; x?: number; y?: number } {
  const [first] = screens;
  const largest = first ?? { x: 0, y: 0, ...DEFAULT_SIZE };
  if (!stored || !isRectangle(stored)) return within(DEFAULT_SIZE, largest);
  const screen = screens.find((candidate) => holdsGrip(candidate, stored));
  if (!screen) return within(stored, largest);
  const size = within(stored, screen);
  // A window that shrinks with its screen must not leave it.
  const leftmost = screen.x - (size.width - GRIP.width);
  const rightmost = screen.x + screen.width - GRIP.width;
  return { x: Math.min(Math.max(stored.x, leftmost), rightmost), y: stored.y, ...size };
}

function within(
  size: { width: number; height: number },
  screen: Rectangle,
): { width: number; height: number } {
  const fit = (wanted: number, least: number, most: number): number =>
    Math.round(Math.min(Math.max(wanted, least), Math.max(most, least)));
  return {
    width: fit(size.width, SMALLEST_SIZE.width, screen.width),
    height: fit(size.height, SMALLEST_SIZE.height, screen.height),
  };
}

function holdsGrip(screen: Rectangle, window: Rectangle): boolean {
  const overlap = Math.min(screen.x + screen.width, window.x + window.width) - Math.max(screen.x, window.x);
  return overlap >= GRIP.width && window.y >= screen.y && window.y + GRIP.height <= screen.y + screen.height;
}

function isRectangle(value: Rectangle): boolean {
  return [value.x, value.y, value.width, value.height].every((number) => Number.isFinite(number));
}
