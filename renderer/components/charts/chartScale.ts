const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];
const MOST_TICKS = 6;

/** Round times from 0 to `seconds`, few enough to stand beside each other. */
export function timeTicks(seconds: number): number[] {
  const step =
    TIME_STEPS.find((candidate) => seconds / candidate < MOST_TICKS) ??
    Math.ceil(seconds / MOST_TICKS / 86_400) * 86_400;
  return Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => index * step);
}

/** The smallest of 1, 2, 4, 6, 10 times a power of ten that holds the value: halves of it are round numbers too. */
export function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  const factor = [1, 2, 4, 6, 10].find((step) => step * power >= value) ?? 10;
  return Math.max(2, factor * power);
}

/** 1, 2 and 5 times the powers of ten from `from` to `to`; where these are too many to stand side by side, fewer of them. */
export function oneTwoFive(from: number, to: number, most = 7): number[] {
  const low = Math.floor(Math.log10(Math.max(1, from)));
  const high = Math.ceil(Math.log10(Math.max(1, to)));
  const ticks = (steps: readonly number[], every: number) =>
    Array.from({ length: high - low + 1 }, (_, power) => power)
      .filter((power) => power % every === 0)
      .flatMap((power) => steps.map((step) => step * 10 ** (low + power)))
      .filter((tick) => tick >= from && tick <= to);
  const choices = [ticks([1, 2, 5], 1), ticks([1, 5], 1), ticks([1], 1), ticks([1], 2)];
  return choices.find((choice) => choice.length <= most) ?? ticks([1], 3);
}
