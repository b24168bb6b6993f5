const DIGIT = 65_536;

/** Where numbers from 0 up stand when sorted, equal ones in the order in which they are: by their bits, 16 at a time from the
 * lowest, which sort as the numbers do. */
export function radixOrder(keys: Float64Array, descending: boolean): Uint32Array {
  const digits = new Uint16Array(keys.buffer, keys.byteOffset, 4 * keys.length);
  let order = Uint32Array.from(keys, (_, i) => i);
  let next = new Uint32Array(keys.length);
  const ends = new Uint32Array(DIGIT);
  for (let place = 0; place < 4; place++) {
    ends.fill(0);
    for (let i = place; i < digits.length; i += 4) ends[digits[i]!]! += 1;
    if (ends.includes(keys.length)) continue;
    let begin = 0;
    for (let i = 0; i < DIGIT; i++) {
      const digit = descending ? DIGIT - 1 - i : i;
      const count = ends[digit]!;
      ends[digit] = begin;
      begin += count;
    }
    for (const index of order) next[ends[digits[4 * index + place]!]!++] = index;
    [order, next] = [next, order];
  }
  return order;
}
