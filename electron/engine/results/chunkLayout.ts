/** 0-based, half-open interval of a sequence. */
interface ChunkBounds {
  start: number;
  end: number;
}

/** How many chunks of length c a sequence of L bases is cut into: ceil(L / c). */
export function chunkCount(length: number, chunkLength: number): number {
  return Math.ceil(length / chunkLength);
}

/**
 * The position of chunk k of a sequence. The overlap needed for full chunks is spread evenly; the first
 * `need` starts are each one base further left, and the last chunk is shorter by that.
 */
export function chunkBounds(length: number, chunkLength: number, k: number): ChunkBounds {
  const n = chunkCount(length, chunkLength);
  if (k === 0) return { start: 0, end: Math.min(chunkLength, length) };
  const excess = n * chunkLength - length;
  const lower = Math.floor(excess / n);
  const need = excess - lower * (n - 1);
  const start = k * chunkLength - Math.min(k, need) * (lower + 1) - Math.max(0, k - need) * lower;
  return { start, end: Math.min(start + chunkLength, length) };
}
