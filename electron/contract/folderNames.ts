import { NOTICE_FILE, PROVISIONAL_TABLE, RESULT_FILES } from './results.ts';

export const RUN_DATABASE = 'run.db';
export const RUN_LOCK = 'run.lock';
/** The tables of other tools that were added to the results. */
export const OTHER_TABLES_FILE = 'other_tools.json';
export const SHORTLIST_FILE = 'shortlist.json';
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
  SHORTLIST_FILE,
]);

/** Files that a program which died left unfinished: databases and tables being written, locks being taken. */
const LEFTOVERS: readonly RegExp[] = [
  /^run\.db\.creating(-journal)?$/,
  /^run\.lock\.(takeover|[0-9a-f-]{36}(\.probe)?)$/,
  /^viral_rows\.u32\.tmp$/,
  /^(other_tools|shortlist)\.json\.tmp$/,
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

/** The usual endings of files with nucleotide sequences, and those of the compressions that are read. */
export const SEQUENCE_ENDINGS = ['fa', 'fasta', 'fna', 'fas', 'fsa', 'ffn', 'frn', 'fq', 'fastq'] as const;
export const COMPRESSION_ENDINGS = ['gz', 'bgz', 'bz2', 'xz', 'lzma', 'zst'] as const;

/** Compressed sequences that are taken to say how to unpack them. */
const UNREAD_ENDINGS = ['lz4', 'z', 'lz', 'lzo', 'sz', 'zip', '7z', 'rar'];

/** Browsers number a download whose name exists already. */
const COPY = String.raw`( \(\d+\))?`;
const SEQUENCE_NAME = new RegExp(
  String.raw`\.(${SEQUENCE_ENDINGS.join('|')})${COPY}(\.(${[...COMPRESSION_ENDINGS, ...UNREAD_ENDINGS].join('|')})${COPY})?$`,
  'i',
);

/** Whether the name says that a file holds sequences; a file that is named itself may have any name. */
export const isSequenceFile = (name: string): boolean => SEQUENCE_NAME.test(name);

/** Downloads that are not finished, and copies that editors keep. */
const isUnfinished = (name: string): boolean =>
  /(~|\.(bak|tmp|temp|part|partial|crdownload|download|swp|old|orig))$/i.test(name);

/** How much of a file is read to find out whether it holds sequences. */
export const BEGINNING_BYTES = 4096;

/** Whether a file whose name says nothing holds nucleotide sequences as plain text, by its first bytes. */
export function beginsWithSequences(beginning: Uint8Array): boolean {
  const text = new TextDecoder('utf-8').decode(beginning);
  return (
    /^\s*>[^\r\n]*[\r\n]+[ACGTUNRYSWKMBDHV]+[ \t]*([\r\n]|$)/i.test(text) ||
    /^\s*@[^\r\n]*[\r\n]+[ACGTUN.]+[\r\n]+\+/i.test(text)
  );
}

/** The names by which a sample sheet is found in a folder. */
export const isSheetOfFolder = (name: string): boolean =>
  /^samples?[-_ ]?(sheet)?\.(csv|tsv|xlsx)$/i.test(name);

/** Endings of files that may be sample sheets; the first line decides whether one is. */
export const isSheetName = (name: string): boolean => /\.(csv|tsv|xlsx)$/i.test(name);

/** Of `unknown` files the content decides whether they are taken or ignored. */
export type FateInFolder = 'taken' | 'unknown' | 'ignored' | 'passed over';

/**
 * What happens to a file or folder inside a named folder, at any depth: the one rule for folders that are
 * chosen and folders that are dropped. Files of earlier runs are never inputs, nor is what is hidden. What is
 * ignored is reported: hidden folders, and files unless they are hidden and of no sequences.
 */
export function fateInFolder(name: string, kind: 'file' | 'folder', isInRunFolder: boolean): FateInFolder {
  if (isInRunFolder && isOurName(name)) return 'passed over';
  const isHidden = name.startsWith('.');
  if (kind === 'folder') return isHidden ? 'ignored' : 'taken';
  // macOS puts a file ._NAME beside each NAME on foreign disks.
  if (isHidden) return isSequenceFile(name) && !name.startsWith('._') ? 'ignored' : 'passed over';
  if (isSequenceFile(name) || isSheetOfFolder(name)) return 'taken';
  return isUnfinished(name) ? 'ignored' : 'unknown';
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
