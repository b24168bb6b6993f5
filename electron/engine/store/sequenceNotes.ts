import { z } from 'zod';
import { appError, AppFailure } from '../../contract/errors.ts';
import { LIMITS } from '../../contract/limits.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { sequenceNoteSchema, type SequenceNote } from '../../contract/rpc/results.ts';
import { deleteInRun, pathInRun, readPlain, replaceInRun, somethingAt } from '../files/runFiles.ts';
import { SEQUENCE_NOTES_FILE } from './runFolder.ts';

const MOST_BYTES = 2 ** 28;

const storedSchema = z.array(sequenceNoteSchema).max(LIMITS.notedSequences);

/** What the user has written on sequences of a run, by row. None where there is no such file; raises AppFailure where it cannot be
 * read, so that nothing is written over it. */
export function sequenceNotes(folder: string): SequenceNote[] {
  const path = pathInRun(folder, SEQUENCE_NOTES_FILE);
  if (!somethingAt(path)) return [];
  const notes = parseJson(storedSchema, readPlain(path, MOST_BYTES)?.toString('utf8'));
  if (notes) return notes;
  throw new AppFailure(
    appError('usage', `The notes on sequences in ${path} cannot be read.`, {
      nextStep: 'Move that file out of the folder; then new notes can be written.',
    }),
  );
}

/** Keeps a note with the run in place of the one before; without text and tags there is none. */
export function noteSequence(folder: string, note: SequenceNote): void {
  const notes = sequenceNotes(folder).filter(({ row }) => row !== note.row);
  if (note.note !== '' || note.tags.length > 0) notes.push(note);
  if (notes.length > LIMITS.notedSequences)
    throw new AppFailure(
      appError('usage', `A run takes notes on ${LIMITS.notedSequences} sequences.`, {
        nextStep: 'Remove one first.',
      }),
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
