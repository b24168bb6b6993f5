/** The smallest of 1, 2, 4, 6, 10 times a power of ten that holds the value: halves of it are round numbers too. */
export function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  const factor = [1, 2, 4, 6, 10].find((step) => step * power >= value) ?? 10;
  return Math.max(2, factor * power);
}
