import type { ModelStatus } from '../../../electron/contract/index.ts';
import { type ListedFile, verdictOf } from './inspection.ts';

/** Which model fits the lengths of the sequences, and how well. */
export type ModelAdvice =
  /** Most sequences are as long as a chunk of the long model. */
  | { readonly fit: 'long'; readonly chunkLength: number; readonly typicalLength: number }
  /** Most are shorter than that, but as long as a chunk of the short model. */
  | { readonly fit: 'short'; readonly chunkLength: number; readonly typicalLength: number }
  /** Most are shorter than any model's training length, such as reads of 150 bp. */
  | { readonly fit: 'too_short'; readonly chunkLength: number; readonly typicalLength: number };

/** Null while no sequence is known, or if there is nothing to choose from. */
export function adviseModel(
  files: readonly ListedFile[],
  models: readonly Pick<ModelStatus, 'chunkLength' | 'notice'>[] | null,
): ModelAdvice | null {
  const typicalLength = medianLength(files);
  const lengths = (models ?? [])
    .filter(({ notice }) => notice === null)
    .map(({ chunkLength }) => chunkLength);
  if (typicalLength === null || lengths.length === 0) return null;
  const fitting = lengths.filter((length) => length <= typicalLength);
  if (fitting.length === 0) return { fit: 'too_short', chunkLength: Math.min(...lengths), typicalLength };
  const chunkLength = Math.max(...fitting);
  return { fit: chunkLength === Math.max(...lengths) ? 'long' : 'short', chunkLength, typicalLength };
}

/** The files of one of two runs, and the chunk length that fits them. */
export interface FilesOfLength {
  readonly chunkLength: number;
  readonly typicalLength: number;
  readonly files: readonly ListedFile[];
}

/**
 * Separates reads from contigs if there are files of both: those that are typically as long as a chunk of the longest model, and the others.
 * Files without sequences go with the longer ones. Null if one model fits all.
 */
export function splitByLength(
  files: readonly ListedFile[],
  models: readonly Pick<ModelStatus, 'chunkLength' | 'notice'>[] | null,
): { readonly shorter: FilesOfLength; readonly longer: FilesOfLength } | null {
  const [some, others] = [
    files.filter((file) => adviseModel([file], models)?.fit !== 'long' && medianLength([file]) !== null),
    files.filter((file) => adviseModel([file], models)?.fit === 'long' || medianLength([file]) === null),
  ];
  const shorter = adviseModel(some, models);
  const longer = adviseModel(others, models);
  if (!shorter || !longer || shorter.chunkLength === longer.chunkLength) return null;
  return { shorter: { ...shorter, files: some }, longer: { ...longer, files: others } };
}

/** The median length of all sequences that will be computed. Each file counts with its own median, weighted by its number of sequences. */
function medianLength(files: readonly ListedFile[]): number | null {
  const known = files
    .filter((file) => verdictOf(file) !== 'blocked')
    .flatMap(({ inspected }) => (inspected && inspected.sequences > 0 ? [inspected] : []))
    .toSorted((a, b) => a.median_length - b.median_length);
  const half = known.reduce((sum, file) => sum + file.sequences, 0) / 2;
  let seen = 0;
  return known.find((file) => (seen += file.sequences) >= half)?.median_length ?? null;
}
