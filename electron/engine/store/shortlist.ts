import { z } from 'zod';
import { usage } from '../../contract/errors.ts';
import type { SequenceFilter } from '../../contract/filter.ts';
import { SHORTLIST_FILE } from '../../contract/folderNames.ts';
import { LIMITS } from '../../contract/limits.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { countSchema } from '../../contract/protocol/common.ts';
import { deleteInRun, pathInRun, readPlain, replaceInRun, somethingAt } from '../system/runFiles.ts';

const MOST_BYTES = 2 ** 28;

/** The names are for people who read the file without this program. */
const storedSchema = z.array(z.object({ row: countSchema, seqName: z.string() })).max(LIMITS.shortlisted);
type Shortlisted = z.infer<typeof storedSchema>[number];

/** Throws AppFailure if the file cannot be read, so that nothing overwrites it. */
function readShortlist(folder: string): Shortlisted[] {
  const path = pathInRun(folder, SHORTLIST_FILE);
  if (!somethingAt(path)) return [];
  const listed = parseJson(storedSchema, readPlain(path, MOST_BYTES)?.toString('utf8'));
  if (listed) return listed;
  throw usage(
    `The shortlist in ${path} cannot be read.`,
    'Move that file out of the folder; then a new shortlist can be written.',
  );
}

/** The rows on the run's shortlist. */
export function shortlistOf(folder: string): number[] {
  return readShortlist(folder).map(({ row }) => row);
}

/** The rows that a filter by the shortlist selects. */
export function markedRows(folder: string, { shortlisted }: SequenceFilter): { marked?: number[] } {
  return shortlisted ? { marked: shortlistOf(folder) } : {};
}

/** Puts a sequence on the shortlist or takes it off. */
export function markSequence(folder: string, sequence: Shortlisted, shortlisted: boolean): void {
  const others = readShortlist(folder).filter(({ row }) => row !== sequence.row);
  const listed = shortlisted ? [...others, sequence].toSorted((a, b) => a.row - b.row) : others;
  if (listed.length > LIMITS.shortlisted)
    throw usage(`A shortlist takes ${LIMITS.shortlisted} sequences.`, 'Remove one first.');
  if (listed.length === 0) deleteInRun(folder, SHORTLIST_FILE);
  else replaceInRun(folder, SHORTLIST_FILE, Buffer.from(`${JSON.stringify(listed, null, 2)}\n`));
}
