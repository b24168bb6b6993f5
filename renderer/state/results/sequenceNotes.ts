import { useDebouncedCallback } from '@mantine/hooks';
import { useQuery, type QueryKey } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Annotation, SequenceNote, SequenceResult } from '../../../electron/contract/index.ts';
import { sayError } from '../say.ts';
import { engine, queries } from '../connection.ts';
import { queryClient } from '../queryClient.ts';
import { useResultsView } from './resultsView.ts';

const SETTLE_MS = 500;

export interface SequenceNotes {
  /** By row; null until they are there. */
  readonly notes: ReadonlyMap<number, SequenceNote> | null;
  readonly error: Error | null;
}

/** What the user has written on sequences of a run. */
export function useSequenceNotes(runId: string): SequenceNotes {
  // What is typed stands here before it is kept: nobody else changes it.
  const options = queries.results.notes.queryOptions({ input: { runId }, staleTime: Infinity });
  const { data, error } = useQuery(options);
  const notes = useMemo(() => (data ? new Map(data.map((note) => [note.row, note])) : null), [data]);
  return { notes, error };
}

const forget = (queryKey: QueryKey) => queryClient.invalidateQueries({ queryKey });

/** Keeps what is typed on a sequence as soon as the typing rests, and at the latest when the sequence is left. */
export function useKeepNote(runId: string, { row, seqName }: SequenceResult) {
  const keep = useDebouncedCallback(
    (annotation: Annotation) => {
      const kept = engine.results.annotate({ runId, row, ...annotation });
      kept
        .then(() => (useResultsView.getState().noted ? forget(queries.results.key()) : undefined))
        .catch((reason: unknown) => {
          sayError(reason);
          return forget(queries.results.notes.key());
        });
    },
    { delay: SETTLE_MS, flushOnUnmount: true },
  );
  return ({ tags, note }: Annotation) => {
    const annotation = { tags, note: note.trim() };
    const isEmpty = annotation.note === '' && tags.length === 0;
    queryClient.setQueryData(queries.results.notes.queryKey({ input: { runId } }), (notes) => [
      ...(notes ?? []).filter((other) => other.row !== row),
      ...(isEmpty ? [] : [{ row, seqName, ...annotation }]),
    ]);
    keep(annotation);
  };
}
