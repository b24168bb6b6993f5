import { isBlocking, said } from './problems.ts';
import type { InputFileProblem, InspectedFile } from './protocol/index.ts';
import { matesOf } from './samples.ts';
import { formatCount } from './terminal/format.ts';

/** Longer sequences are not reads, whatever the names of two files suggest. */
export const LONGEST_READ = 1000;

const DIGITS_OF_MARK = 8;

/**
 * What is wrong with the read pairs among these files, by the path of a pair's second file: different numbers
 * of reads, and names that differ.
 */
export function pairProblems(files: readonly InspectedFile[]): ReadonlyMap<string, InputFileProblem[]> {
  const problems = new Map<string, InputFileProblem[]>();
  for (const [index, mate] of matesOf(files.map(({ path }) => path)).entries()) {
    const [one, two] = [files[mate ?? -1], files[index]];
    if (mate === null || mate > index || !one || !two || !areReads(one) || !areReads(two)) continue;
    const found = problemsOfPair(one, two);
    if (found.length > 0) problems.set(two.path, found);
  }
  return problems;
}

const areReads = ({ sequences, max_length, problems }: InspectedFile): boolean =>
  sequences > 0 && max_length <= LONGEST_READ && !problems.some(isBlocking);

function problemsOfPair(one: InspectedFile, two: InspectedFile): InputFileProblem[] {
  const differ = firstDifference(one, two);
  // Two FASTA files may have the names of a pair without being one; then already their first names differ.
  if (differ?.from === 1 && (one.format === 'fasta' || two.format === 'fasta')) return [];
  const problems: InputFileProblem[] = [];
  const [file, other] = [two, one].map(({ path }) => path.split(/[\\/]/).at(-1) ?? path) as [string, string];
  if (one.sequences !== two.sequences) {
    const values = { file, other, reads: formatCount(two.sequences), others: formatCount(one.sequences) };
    const count = Math.abs(one.sequences - two.sequences);
    problems.push({ ...said('mates_unequal', values), count, examples: [] });
  }
  if (differ) {
    const read = [...new Set([differ.from, differ.to])].map(formatCount).join('–');
    problems.push({ ...said('mates_disagree', { file, other, read }), count: 1, examples: [] });
  }
  return problems;
}

/**
 * The first read, from 1 on, whose names differ, as a range: the marks of long files are far apart. Null if no
 * compared name differs.
 */
function firstDifference(one: InspectedFile, two: InspectedFile): { from: number; to: number } | null {
  const step = Math.max(one.name_marks.step, two.name_marks.step);
  const fewest = Math.min(one.sequences, two.sequences);
  for (let to = step; to <= fewest; to += step)
    if (markAt(one, to) !== markAt(two, to)) return { from: to - step + 1, to };
  const isSameAtEnd = one.sequences !== two.sequences || lastMark(one) === lastMark(two);
  return isSameAtEnd ? null : { from: fewest - (fewest % step) + 1, to: fewest };
}

const lastMark = ({ name_marks: { marks } }: InspectedFile): string => marks.slice(-DIGITS_OF_MARK);

function markAt({ name_marks: { step, marks } }: InspectedFile, sequence: number): string {
  const end = (sequence / step) * DIGITS_OF_MARK;
  return marks.slice(end - DIGITS_OF_MARK, end);
}
