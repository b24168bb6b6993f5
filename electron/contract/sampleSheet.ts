import { z } from 'zod';
import { LIMITS, wordSchema } from './limits.ts';
import { matesOf, sentPath } from './samples.ts';

/** What a sample sheet says about a sample besides its name. */
export const sampleDetailsSchema = z.object({
  group: wordSchema.nullable(),
  note: z.string().max(LIMITS.note).nullable(),
  /**
   * A negative control: nothing viral is expected in it, and the other samples are compared with its viral
   * share.
   */
  control: z.boolean(),
});
export type SampleDetails = z.infer<typeof sampleDetailsSchema>;

/** A line of a sample sheet. The file is its name, or enough of its path to distinguish it from others. */
export const sheetRowSchema = sampleDetailsSchema.extend({
  file: z.string().min(1).max(LIMITS.path),
  sample: wordSchema.min(1),
});
export type SheetRow = z.infer<typeof sheetRowSchema>;
/** The sample of a file, as the sheet or the user describes it. */
export type NamedSample = Omit<SheetRow, 'file'>;

export const NO_DETAILS: SampleDetails = { group: null, note: null, control: false };

export interface SheetMatch {
  /** Rows by path. */
  readonly rows: ReadonlyMap<string, SheetRow>;
  /** Lines that match no file, or more than one. */
  readonly missing: readonly SheetRow[];
  readonly ambiguous: readonly SheetRow[];
  /** Paths that no line names: their samples follow from the file names. */
  readonly unnamed: readonly string[];
}

/** Matches lines to files. A line for one file of a read pair applies to both. */
export function matchSheet(rows: readonly SheetRow[], paths: readonly string[]): SheetMatch {
  const matched = new Map<string, SheetRow>();
  const missing: SheetRow[] = [];
  const ambiguous: SheetRow[] = [];
  const byName = Map.groupBy(paths, (path) => segments(path).at(-1) ?? '');
  for (const row of rows) {
    const wanted = segments(row.file);
    const found = (byName.get(wanted.at(-1) ?? '') ?? []).filter((path) => {
      const sent = sentPath(path);
      const known = segments(sent ?? path);
      // An uploaded file may have come without some of its folders.
      const compared = sent === null ? wanted : wanted.slice(-known.length);
      return compared.every((name, index) => known.at(index - compared.length) === name);
    });
    const [path] = found;
    if (path === undefined) missing.push(row);
    else if (found.length > 1) ambiguous.push(row);
    else matched.set(path, row);
  }
  const mates = matesOf(paths);
  const withMates = new Map(matched);
  for (const [index, path] of paths.entries()) {
    const mate = paths[mates[index] ?? -1];
    const row = mate === undefined ? undefined : matched.get(mate);
    if (row && !matched.has(path)) withMates.set(path, row);
  }
  return { rows: withMates, missing, ambiguous, unnamed: paths.filter((path) => !withMates.has(path)) };
}

/** The sheet's samples in the form that a request takes. */
export const samplesOfSheet = (
  rows: ReadonlyMap<string, SheetRow>,
): { samples: Record<string, string>; sampleDetails: Record<string, SampleDetails> } => ({
  samples: Object.fromEntries([...rows].map(([path, { sample }]) => [path, sample])),
  sampleDetails: Object.fromEntries(
    [...rows].map(([path, { group, note, control }]) => [path, { group, note, control }]),
  ),
});

const segments = (path: string): string[] =>
  path.split(/[\\/]/).filter((part) => part !== '' && part !== '.');
