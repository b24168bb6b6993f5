import { z } from 'zod';
import { COMPRESSION_ENDINGS, SEQUENCE_ENDINGS } from './folderNames.ts';
import { LIMITS, wordSchema } from './limits.ts';

/**
 * The sample of each input file, derived from its name: the two files of a read pair (`gut_R1.fastq.gz` and
 * `gut_R2.fastq.gz`, `gut_1.fq` and `gut_2.fq`, with or without `_001`) in one folder are one sample, and
 * every other file is a sample of its own. Returns a name per path; samples from several folders never share
 * one. Uploaded files belong to the folder that they were sent from, although each is stored in a folder of
 * its own.
 */
export function sampleNames(paths: readonly string[]): string[] {
  const files = paths.map(readName);
  const mates = matesOf(paths);
  const groups = files.map((file, i) => {
    const isPaired = mates[i] !== null;
    const name = isPaired ? file.base : file.stem;
    return { name, key: isPaired ? file.pair : file.path, folders: file.folders };
  });
  const names: string[] = groups.map(({ key }) => key);
  let unnamed = [...groups.entries()];
  for (let depth = 0; unnamed.length > 0; depth++) {
    const keys = new Map<string, Set<string>>();
    for (const group of groups) {
      const name = withFolders(group, depth);
      keys.set(name, (keys.get(name) ?? new Set()).add(group.key));
    }
    for (const [index, group] of unnamed) {
      const name = withFolders(group, depth);
      if (keys.get(name)?.size === 1) names[index] = name;
    }
    unnamed = unnamed.filter(([index, { key, folders }]) => names[index] === key && depth < folders.length);
  }
  return names;
}

/** The sender's path of an uploaded file, as far as it was sent. Null for all other files. */
export const sentPath = (path: string): string | null => SENT.exec(path)?.[1] ?? null;

/**
 * For each path, the index of its file among the mates of its read pairs, by their names; null for all other
 * files.
 */
export function matesOf(paths: readonly string[]): (number | null)[] {
  const files = paths.map((path, index) => ({ ...readName(path), index }));
  // A path that is given twice is one file.
  const distinct = new Map(files.map((file) => [file.path, file])).values();
  const byMate = Map.groupBy(distinct, ({ pair, mate }) => [pair, mate].join(' '));
  return files.map(({ pair, mate }) => {
    if (mate === null) return null;
    const filesOf = (number: string) => byMate.get(`${pair} ${number}`) ?? [];
    const [other, ...more] = filesOf(mate === '1' ? '2' : '1');
    // If two files were sent under one name, nobody knows which is the mate.
    return filesOf(mate).length === 1 && more.length === 0 ? (other?.index ?? null) : null;
  });
}

interface NamedFile {
  path: string;
  folders: string[];
  stem: string;
  /** The stem without the part that distinguishes the mates, and a key that both mates share. */
  base: string;
  pair: string;
  mate: string | null;
}

const ENDINGS = new RegExp(
  String.raw`(\.(${SEQUENCE_ENDINGS.join('|')}))?(\.(${COMPRESSION_ENDINGS.join('|')}))?$`,
  'i',
);
/**
 * Each file that was sent, by a browser or through SSH, is stored in a folder of its own; see `receiveUpload`
 * and `sendFile`.
 */
const SENT = /[\\/]uploads[\\/](?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64})[\\/](.+)$/;
const MATE = /^(?<base>.+?)(?<between>[._-]r?)(?<mate>[12])(?<after>_001)?$/i;

function readName(path: string): NamedFile {
  const parts = path.split(/[\\/]/).filter((part) => part !== '');
  const name = parts.at(-1) ?? path;
  const folders = parts.slice(0, -1);
  const stem = name.replace(ENDINGS, '') || name;
  const found = MATE.exec(stem)?.groups;
  const { base = stem, between, mate = null, after } = found ?? {};
  const ownFolders = sentPath(path)?.split(/[\\/]/).slice(0, -1) ?? folders;
  const pair = [...ownFolders, base, between, after].join('\0');
  return { path, folders, stem, base, pair, mate };
}

function withFolders({ name, folders }: { name: string; folders: readonly string[] }, depth: number): string {
  return [...folders.slice(folders.length - Math.min(depth, folders.length)), name].join('/');
}

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

interface SheetMatch {
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
  const byName = Map.groupBy(paths, (path) => segments(path).at(-1));
  for (const row of rows) {
    const wanted = segments(row.file);
    const found = (byName.get(wanted.at(-1)) ?? []).filter((path) => {
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
