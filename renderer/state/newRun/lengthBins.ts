import type { InspectedFile } from '../../../electron/contract/index.ts';

export interface LengthBin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** The bins from the shortest to the longest sequence, and one empty bin on either side. */
export function lengthBins(
  file: Pick<InspectedFile, 'length_histogram' | 'length_bin_edges' | 'max_length'>,
): LengthBin[] {
  const bins = file.length_histogram.map((count, index) => ({
    from: file.length_bin_edges[index] ?? 0,
    to: file.length_bin_edges[index + 1] ?? file.max_length,
    count,
  }));
  const first = bins.findIndex((bin) => bin.count > 0);
  const last = bins.findLastIndex((bin) => bin.count > 0);
  return first < 0 ? [] : bins.slice(Math.max(0, first - 1), last + 2);
}
