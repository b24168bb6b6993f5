import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Annotation, SequenceNote, SequenceResult } from '../../../electron/contract/index.ts';
import { sayError } from '../say.ts';
import { engine, queries } from '../connection.ts';
import { askAgain, queryClient } from '../queryClient.ts';
import { useResultsView } from './resultsView.ts';

const TYPING_REST_MS = 500;

export interface SequenceNotes {
  /** Notes by row; null until they have loaded. */
  readonly notes: ReadonlyMap<number, SequenceNote> | null;
  readonly error: Error | null;
}

/** The user's notes on sequences of a run. */
export function useSequenceNotes(runId: string): SequenceNotes {
  // The cache holds what is typed before it is saved, and nobody else changes it, so it never goes stale.
  const options = queries.results.notes.queryOptions({ input: { runId }, staleTime: Infinity });
  const { data, error } = useQuery(options);
  const notes = useMemo(() => (data ? new Map(data.map((note) => [note.row, note])) : null), [data]);
  return { notes, error };
}

/** Shows a change of a sequence's note at once; the caller saves it. */
function showMark(
  runId: string,
  { row, seqName }: Pick<SequenceResult, 'row' | 'seqName'>,
  change: Partial<SequenceNote>,
): void {
  queryClient.setQueryData(queries.results.notes.queryKey({ input: { runId } }), (notes = []) => {
    const before = notes.find((other) => other.row === row);
    const note = { row, seqName, tags: [], note: '', shortlisted: false, ...before, ...change };
    const isEmpty = note.note === '' && note.tags.length === 0 && !note.shortlisted;
    return [...notes.filter((other) => other.row !== row), ...(isEmpty ? [] : [note])];
  });
}

function couldNotKeep(reason: unknown): void {
  sayError(reason);
  askAgain(queries.results.notes.key());
}

/** Saves what is typed on a sequence as soon as typing pauses, at the latest when the user leaves the sequence. */
export function useKeepNote(runId: string, sequence: Pick<SequenceResult, 'row' | 'seqName'>) {
  const { row } = sequence;
  const keep = useDebouncedCallback(
    (annotation: Annotation) => {
      engine.results
        .annotate({ runId, row, ...annotation })
        .then(() => {
          if (useResultsView.getState().filter.noted) askAgain(queries.results.key());
        })
        .catch(couldNotKeep);
    },
    { delay: TYPING_REST_MS, flushOnUnmount: true },
  );
  return ({ tags, note }: Annotation) => {
    const annotation = { tags, note: note.trim() };
    showMark(runId, sequence, annotation);
    keep(annotation);
  };
}

/** Puts a sequence on the shortlist or takes it off. */
export function shortlist(
  runId: string,
  sequence: Pick<SequenceResult, 'row' | 'seqName'>,
  shortlisted: boolean,
): void {
  showMark(runId, sequence, { shortlisted });
  engine.results
    .shortlist({ runId, row: sequence.row, shortlisted })
    .then(() =>
      askAgain(
        useResultsView.getState().filter.shortlisted ? queries.results.key() : queries.results.counts.key(),
      ),
    )
    .catch(couldNotKeep);
}
