import type { ModelStatus } from '../../../electron/contract/index.ts';
import type { ListedFile } from './inspection.ts';

/** Which model fits the lengths of the sequences, and how well. */
export type ModelAdvice =
  /** Most are as long as a chunk of the long model. */
  | { readonly fit: 'long'; readonly chunkLength: number; readonly typicalLength: number }
  /** Most are shorter than that, and as long as a chunk of the short one. */
  | { readonly fit: 'short'; readonly chunkLength: number; readonly typicalLength: number }
  /** Most are shorter than any model was trained on, as reads of 150 bp are. */
  | { readonly fit: 'too_short'; readonly chunkLength: number; readonly typicalLength: number };

/** Null while no sequence is known, or there is nothing to choose from. */
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

/** Of all sequences together; each file counts with its own median, by how many sequences it has. */
function medianLength(files: readonly ListedFile[]): number | null {
  const known = files
    .flatMap(({ inspected }) => (inspected && inspected.sequences > 0 ? [inspected] : []))
    .toSorted((a, b) => a.median_length - b.median_length);
  const half = known.reduce((sum, file) => sum + file.sequences, 0) / 2;
  let seen = 0;
  return known.find((file) => (seen += file.sequences) >= half)?.median_length ?? null;
}
