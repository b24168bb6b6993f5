import {
  type InputFileProblem,
  type InspectedFile,
  isBlocking,
  pairProblems,
  severityOf,
} from '../../../electron/contract/index.ts';

/** A file of the new run, inspected or not yet. */
export interface ListedFile {
  readonly path: string;
  readonly inspected: InspectedFile | null;
}

export type FileVerdict = 'looking' | 'ready' | 'warning' | 'skipped' | 'blocked';

const SEVERITY_ORDER = ['blocks', 'skipped', 'warning'] as const;
const VERDICT_OF = { blocks: 'blocked', skipped: 'skipped', warning: 'warning' } as const;

const tooShort = (count: number): InputFileProblem => ({
  code: 'below_chunk_length',
  values: {},
  count,
  examples: [],
});

/** All that there is to say about a file, the worst first, with its sequences that are too short for a chunk of this length. */
export function problemsOf({ problems, judged }: InspectedFile, chunkLength: number): InputFileProblem[] {
  const short = judged[chunkLength]?.shorter ?? 0;
  // What cannot be used has no other problems: they would describe what will not be computed.
  return problems.some(isBlocking)
    ? problems.filter(isBlocking).slice(0, 1)
    : [...bySeverity(problems), ...(short > 0 ? [tooShort(short)] : [])];
}

const bySeverity = (problems: readonly InputFileProblem[]) =>
  problems.toSorted(
    (a, b) => SEVERITY_ORDER.indexOf(severityOf(a.code)) - SEVERITY_ORDER.indexOf(severityOf(b.code)),
  );

/** The worst of a file, which its row says and which decides what will happen to it; undefined if it is used as it is. */
export function mainProblem({ inspected }: ListedFile): InputFileProblem | undefined {
  if (!inspected) return undefined;
  return (
    bySeverity(inspected.problems)[0] ?? (isAllShort(inspected) ? tooShort(inspected.sequences) : undefined)
  );
}

export function verdictOf(file: ListedFile): FileVerdict {
  if (!file.inspected) return 'looking';
  const worst = mainProblem(file);
  return worst ? VERDICT_OF[severityOf(worst.code)] : 'ready';
}

/** Whether every sequence is shorter than any model's training length. */
function isAllShort({ sequences, judged }: InspectedFile): boolean {
  return sequences > 0 && Object.values(judged).every(({ shorter }) => shorter === sequences);
}

export interface InputTotals {
  readonly files: number;
  readonly sequences: number;
  readonly bases: number;
  readonly bytes: number;
  /** Sequences that are shorter than the minimum length asked for. */
  readonly belowMinLength: number;
}

/** What was found in these files. */
export const inspectedOf = (files: readonly ListedFile[]): InspectedFile[] =>
  files.flatMap(({ inspected }) => inspected ?? []);

/** Totals of what will run: files that cannot be used are excluded. */
export function totalsOf(files: readonly ListedFile[]): InputTotals {
  const totals = { files: 0, sequences: 0, bases: 0, bytes: 0, belowMinLength: 0 };
  for (const file of files) {
    const { inspected } = file;
    if (verdictOf(file) === 'blocked') continue;
    totals.files += 1;
    if (!inspected) continue;
    totals.sequences += inspected.sequences;
    totals.bases += inspected.bases;
    totals.bytes += inspected.size_bytes;
    totals.belowMinLength += inspected.problems.find(({ code }) => code === 'below_min_length')?.count ?? 0;
  }
  return totals;
}

/** Adds files that are not listed yet, and the inspections of those that are. */
export function withFiles(
  files: readonly ListedFile[],
  found: readonly string[],
  inspected?: InspectedFile,
): readonly ListedFile[] {
  const known = new Set(files.map((file) => file.path));
  const added = [...new Set(found)]
    .filter((path) => !known.has(path))
    .map((path) => ({ path, inspected: null }));
  const all = added.length > 0 ? [...files, ...added] : files;
  if (!inspected) return all;
  return all.some((file) => file.path === inspected.path)
    ? all.map((file) => (file.path === inspected.path ? { ...file, inspected } : file))
    : [...all, { path: inspected.path, inspected }];
}

/** The files with the problems that only show when the two files of a read pair are compared. */
export function withPairProblems(files: readonly ListedFile[]): readonly ListedFile[] {
  const found = pairProblems(inspectedOf(files));
  return files.map((file) => {
    const more = found.get(file.path);
    if (!more || !file.inspected) return file;
    return { ...file, inspected: { ...file.inspected, problems: [...file.inspected.problems, ...more] } };
  });
}
