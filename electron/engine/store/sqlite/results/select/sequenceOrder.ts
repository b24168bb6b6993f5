import type { SequenceSort } from '../../../../../contract/rpc/results.ts';
import { radixOrder } from './radixOrder.ts';
import type { LateColumn } from './lateColumns.ts';
import type { ResultColumns } from '../resultColumns.ts';

/** What an order rests on besides the columns themselves. */
export interface OrderSources {
  /** By number of the record at which place it would be if all were sorted by name, or by header. */
  readonly nameRank: () => Uint32Array;
  readonly headerRank: () => Uint32Array;
  /** By number of the input its place among the names of the files. */
  readonly fileRank: () => Uint32Array;
  readonly late: (name: LateColumn) => Float64Array;
}

/**
 * Sorts what was selected (indices into the columns, ascending). Without a value they come last, whichever way the rest is sorted.
 * Equal ones stay in the order of the run.
 */
export function sortSelected(
  columns: ResultColumns,
  selected: Uint32Array,
  { by, descending }: SequenceSort,
  sources: OrderSources,
): Uint32Array {
  if (by === 'row') return descending ? selected.toReversed() : selected;
  const valueOf = sortValue(columns, by, sources);
  // None is negative, as the sorting needs.
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
  { nameRank, headerRank, fileRank, late }: OrderSources,
): (index: number) => number {
  switch (by) {
    case 'seqName': {
      const ranks = nameRank();
      return (index) => ranks[columns.row[index]!]!;
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
    case 'header': {
      const ranks = headerRank();
      return (index) => ranks[columns.row[index]!]!;
    }
    case 'input': {
      const ranks = fileRank();
      return (index) => ranks[columns.input[index]!]!;
    }
    case 'bestScore':
    case 'bestChunkStart':
    case 'nFramesScored':
    case 'reason': {
      const values = late(by);
      return (index) => values[index]!;
    }
  }
}

/** By number of the input its place among the names of the files. Of equal names that one comes first which the run reads first. */
export function rankFiles(paths: readonly string[]): Uint32Array {
  const { compare } = new Intl.Collator('en', { numeric: true });
  const names = paths.map((path) => path.split(/[\\/]/).at(-1) ?? '');
  const rank = new Uint32Array(names.length);
  const order = [...names.keys()].sort((a, b) => compare(names[a]!, names[b]!) || a - b);
  for (const [place, input] of order.entries()) rank[input] = place;
  return rank;
}
