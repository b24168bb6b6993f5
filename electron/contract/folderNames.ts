import { NOTICE_FILE, PROVISIONAL_TABLE, RESULT_FILES } from './results.ts';

export const RUN_DATABASE = 'run.db';
export const RUN_LOCK = 'run.lock';
/** The tables of other tools that were added to the results. */
export const OTHER_TABLES_FILE = 'other_tools.json';
/** The user's notes on single sequences. */
export const SEQUENCE_NOTES_FILE = 'sequence_notes.json';
/** Folder of the shares of a run that other computers compute. */
export const SHARES_FOLDER = 'shares';

/** Everything this program leaves in a run's folder. */
const OUR_NAMES: ReadonlySet<string> = new Set([
  RUN_DATABASE,
  `${RUN_DATABASE}-wal`,
  `${RUN_DATABASE}-shm`,
  `${RUN_DATABASE}-journal`,
  RUN_LOCK,
  'work',
  'logs',
  SHARES_FOLDER,
  ...Object.values(RESULT_FILES),
  NOTICE_FILE,
  PROVISIONAL_TABLE,
  OTHER_TABLES_FILE,
  SEQUENCE_NOTES_FILE,
]);

/** Files that a program which died left unfinished: databases and tables being written, locks being taken. */
const LEFTOVERS: readonly RegExp[] = [
  /^run\.db\.creating(-journal)?$/,
  /^run\.lock\.(takeover|[0-9a-f-]{36}(\.probe)?)$/,
  /^viral_rows\.u32\.tmp$/,
  /^(other_tools|sequence_notes)\.json\.tmp$/,
];

/**
 * Whether a name in a run's folder belongs to this program: only such files may `--force` or a deletion
 * remove.
 */
export function isOurName(name: string): boolean {
  const finished = name.replace(/(\.\d+)?\.tmp$/, '');
  return (
    OUR_NAMES.has(name) ||
    LEFTOVERS.some((pattern) => pattern.test(name)) ||
    (finished !== name && (Object.values(RESULT_FILES) as string[]).includes(finished))
  );
}

/** Whether a file is picked out of a folder by its ending; a file that is named itself may have any name. */
export const isSequenceFile = (name: string): boolean =>
  /\.(fa|fasta|fna|fas|ffn|frn|fq|fastq)(\.(gz|bz2|xz|zst))?$/i.test(name);

/** The names by which a sample sheet is found in a folder. */
export const isSheetOfFolder = (name: string): boolean =>
  /^samples?[-_ ]?(sheet)?\.(csv|tsv|xlsx)$/i.test(name);

/** Endings of files that may be sample sheets; the first line decides whether one is. */
export const isSheetName = (name: string): boolean => /\.(csv|tsv|xlsx)$/i.test(name);

export type FateInFolder = 'taken' | 'ignored' | 'passed over';

/**
 * What happens to a file or folder inside a named folder, at any depth: the one rule for folders that are
 * chosen and folders that are dropped. Files of earlier runs are never inputs, and hidden files are ignored;
 * every other file that is not taken is reported.
 */
export function fateInFolder(name: string, kind: 'file' | 'folder', isInRunFolder: boolean): FateInFolder {
  if (isInRunFolder && isOurName(name)) return 'passed over';
  if (kind === 'folder') return 'taken';
  if (name.startsWith('.')) return 'passed over';
  return isSequenceFile(name) || isSheetOfFolder(name) ? 'taken' : 'ignored';
}

/**
 * The same for all files at once, each with the folders that it was dropped with. A file without a folder was
 * named itself.
 */
export function fatesOf(paths: readonly string[]): FateInFolder[] {
  const runFolders = new Set(
    paths.flatMap((path) =>
      path.endsWith(`/${RUN_DATABASE}`) ? [path.slice(0, path.lastIndexOf('/'))] : [],
    ),
  );
  return paths.map((path) => {
    const names = path.split('/');
    const fates = names.slice(1).map((name, depth) => {
      const folder = names.slice(0, depth + 1).join('/');
      return fateInFolder(name, depth + 2 === names.length ? 'file' : 'folder', runFolders.has(folder));
    });
    return fates.find((fate) => fate !== 'taken') ?? 'taken';
  });
}
