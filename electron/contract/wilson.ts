/** The z value of a two-sided 95 % interval. */
const Z = 1.959964;

/**
 * Wilson's 95 % interval for a share of this many independent observations; from 0 to 1 if there are none.
 */
export function wilson(share: number, count: number): { low: number; high: number } {
  if (count === 0) return { low: 0, high: 1 };
  const z2 = Z * Z;
  const middle = (share + z2 / (2 * count)) / (1 + z2 / count);
  const half = (Z / (1 + z2 / count)) * Math.sqrt((share * (1 - share)) / count + z2 / (4 * count * count));
  return {
    low: Math.max(0, Math.min(share, middle - half)),
    high: Math.min(1, Math.max(share, middle + half)),
  };
}
