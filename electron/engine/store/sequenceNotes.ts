import { z } from 'zod';
import { usage } from '../../contract/errors.ts';
import type { SequenceFilter } from '../../contract/filter.ts';
import { LIMITS } from '../../contract/limits.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { sequenceNoteSchema, type SequenceNote } from '../../contract/rpc/results.ts';
import { deleteInRun, pathInRun, readPlain, replaceInRun, somethingAt } from '../system/runFiles.ts';
import { SEQUENCE_NOTES_FILE } from '../../contract/folderNames.ts';

const MOST_BYTES = 2 ** 28;

const storedSchema = z.array(sequenceNoteSchema).max(LIMITS.notedSequences);

/**
 * The user's notes on sequences of a run, by row. Empty if there is no such file; throws AppFailure if it
 * cannot be read, so that nothing overwrites it.
 */
export function sequenceNotes(folder: string): SequenceNote[] {
  const path = pathInRun(folder, SEQUENCE_NOTES_FILE);
  if (!somethingAt(path)) return [];
  const notes = parseJson(storedSchema, readPlain(path, MOST_BYTES)?.toString('utf8'));
  if (notes) return notes;
  throw usage(
    `The notes on sequences in ${path} cannot be read.`,
    'Move that file out of the folder; then new notes can be written.',
  );
}

/** The rows that a filter by notes or by the shortlist selects; undefined if it filters by neither. */
export function markedRows(folder: string, { noted, shortlisted }: SequenceFilter): { marked?: number[] } {
  if (!noted && !shortlisted) return {};
  const isWanted = (one: SequenceNote): boolean =>
    (!noted || one.note !== '' || one.tags.length > 0) && (!shortlisted || one.shortlisted);
  return { marked: sequenceNotes(folder).flatMap((one) => (isWanted(one) ? [one.row] : [])) };
}

/**
 * Stores a note with the run; fields that the change does not name are kept. An entry without content is
 * removed.
 */
export function markSequence(
  folder: string,
  change: Pick<SequenceNote, 'row' | 'seqName'> & Partial<SequenceNote>,
): void {
  const before = sequenceNotes(folder);
  const notes = before.filter(({ row }) => row !== change.row);
  const note = {
    ...{ tags: [], note: '', shortlisted: false },
    ...before.find(({ row }) => row === change.row),
    ...change,
  };
  if (note.note !== '' || note.tags.length > 0 || note.shortlisted) notes.push(note);
  if (notes.length > LIMITS.notedSequences)
    throw usage(
      `A run takes notes and the shortlist of ${LIMITS.notedSequences} sequences.`,
      'Remove one first.',
    );
  if (notes.length === 0) deleteInRun(folder, SEQUENCE_NOTES_FILE);
  else
    replaceInRun(
      folder,
      SEQUENCE_NOTES_FILE,
      Buffer.from(
        `${JSON.stringify(
          notes.toSorted((a, b) => a.row - b.row),
          null,
          2,
        )}\n`,
      ),
    );
}
