import type { SequenceSort } from '../../../../contract/rpc/results.ts';
import type { ResultColumns } from './resultColumns.ts';

const DIGIT = 65_536;

/**
 * Sorts what was selected (indices into the columns, ascending). Without a value they come last, whichever way the rest is sorted.
 * Equal ones stay in the order of the run. `nameRank` says at which place each would be if all were sorted by name.
 */
export function sortSelected(
  columns: ResultColumns,
  selected: Uint32Array,
  { by, descending }: SequenceSort,
  nameRank: () => Uint32Array,
): Uint32Array {
  if (by === 'row') return descending ? selected.toReversed() : selected;
  const valueOf = sortValue(columns, by, nameRank);
  // None is negative, so the bits of the numbers sort as the numbers do.
  const keys = new Float64Array(selected.length);
  const sorted = new Uint32Array(selected.length);
  const without: number[] = [];
  let count = 0;
  for (const index of selected) {
    const value = valueOf(index);
    if (Number.isNaN(value)) {
      without.push(index);
      continue;
    }
    keys[count] = value;
    sorted[count++] = index;
  }
  const order = radixOrder(keys.subarray(0, count), descending);
  const result = new Uint32Array(selected.length);
  for (let i = 0; i < count; i++) result[i] = sorted[order[i]!]!;
  result.set(without, count);
  return result;
}

function sortValue(
  columns: ResultColumns,
  by: Exclude<SequenceSort['by'], 'row'>,
  nameRank: () => Uint32Array,
): (index: number) => number {
  switch (by) {
    case 'seqName': {
      const ranks = nameRank();
      return (index) => ranks[index]!;
    }
    case 'length':
      return (index) => columns.length[index]!;
    case 'virusScore':
      return (index) => columns.virusScore[index]!;
    case 'viralFraction':
      // 0/0 is no number, as it should be.
      return (index) => columns.nChunksViral[index]! / columns.nChunksScored[index]!;
    case 'nChunks':
      return (index) => columns.nChunks[index]!;
    case 'prediction':
      return (index) => columns.prediction[index]!;
    case 'evidence':
      return (index) => columns.evidence[index]! || NaN;
  }
}

/** Where the numbers stand when sorted, equal ones in the order in which they are: by their bits, 16 at a time from the lowest. */
function radixOrder(keys: Float64Array, descending: boolean): Uint32Array {
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
