/** By number of the input its place among the names of the files. Of equal names that one comes first which the run reads first. */
export function rankFiles(paths: readonly string[]): Uint32Array {
  const { compare } = new Intl.Collator('en', { numeric: true });
  const names = paths.map((path) => path.split(/[\\/]/).at(-1) ?? '');
  const rank = new Uint32Array(names.length);
  const order = [...names.keys()].sort((a, b) => compare(names[a]!, names[b]!) || a - b);
  for (const [place, input] of order.entries()) rank[input] = place;
  return rank;
}
