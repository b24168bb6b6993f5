import { basename } from 'node:path';
import type { ChunkCall, DifferingChunk, OriginalComparison } from '../../../contract/rpc/results.ts';
import { callChunk, chunkBounds } from '../../results/sequenceTally.ts';
import { chunkId } from '../../store/tables/tableRows.ts';
import type { RunStore } from '../../store/runStore.ts';
import { cellOfScore, ScoreAgreement, writeListed } from './compareRuns.ts';
import { readOriginalResults, sequenceOf } from './originalResults.ts';

const PAGE_ROWS = 2000;

type Found = Omit<OriginalComparison, 'differing'>;

/**
 * Compares a run with prediction_results.txt or prediction_results_highestscore.csv of the original tool,
 * chunk by chunk. Chunks are matched by their ids, which both tools form from the sequence's name and the
 * chunk's number. If several sequences of the run have a name, or the file has an id twice, the match is
 * ambiguous; these are counted separately. `onDiffering` gets the chunks whose call differs, in the order of
 * the run.
 */
export async function compareWithOriginal(
  store: RunStore,
  path: string,
  onDiffering: (one: DifferingChunk) => Promise<void> | void,
  signal?: AbortSignal,
): Promise<Found> {
  const { plan } = await store.loadRun();
  const theirs = await readOriginalResults(path, signal);
  const ambiguousNames = await namesOfSeveral(store, theirs.keys());
  const calls = { virus: { virus: 0, others: 0 }, others: { virus: 0, others: 0 } };
  const scores = new ScoreAgreement();
  let [inBoth, onlyInRun] = [0, 0];
  const rows = await store.selectedRows({ filter: {} }, { by: 'row', descending: false });
  for (let begin = 0; begin < rows.length; begin += PAGE_ROWS) {
    signal?.throwIfAborted();
    const page = rows.slice(begin, begin + PAGE_ROWS);
    const [sequences, scored] = await Promise.all([store.sequencesOf(page), store.scoredFramesOf(page)]);
    for (const [i, { row, seqName, length }] of sequences.entries()) {
      if (ambiguousNames.has(seqName)) continue;
      for (const { chunk, pairs } of scored[i] ?? []) {
        const id = chunkId(seqName, chunk);
        const their = theirs.get(id);
        if (their?.isRepeated === true) continue;
        theirs.delete(id);
        if (!their) {
          onlyInRun += 1;
          continue;
        }
        inBoth += 1;
        const { isVirus, score1, score2 } = callChunk(pairs);
        if (their.score2 !== null) scores.add(score2, their.score2);
        const [call, theirCall] = [callOf(isVirus), callOf(their.isVirus)];
        calls[call][theirCall] += 1;
        if (call === theirCall) continue;
        const { start, end } = chunkBounds(length, plan.chunkLength, chunk);
        await onDiffering({
          ...{ row, seqName, chunk: chunk + 1, start: start + 1, end },
          run: { call, score1, score2 },
          file: { call: theirCall, score1: their.score1, score2: their.score2 },
        });
      }
    }
  }
  const isAmbiguous = ([id, { isRepeated }]: [string, { isRepeated: boolean }]): boolean =>
    isRepeated || ambiguousNames.has(sequenceOf(id));
  const ambiguous = [...theirs].filter(isAmbiguous).length;
  return {
    file: basename(path),
    chunkLength: plan.chunkLength,
    inBoth,
    sameCall: calls.virus.virus + calls.others.others,
    calls,
    onlyInRun,
    onlyInFile: theirs.size - ambiguous,
    ambiguous,
    scores: scores.summary(),
  };
}

/** Writes the chunks whose call differs as a table, besides comparing. */
export async function writeOriginalComparison(
  store: RunStore,
  path: string,
  outPath: string,
): Promise<Found> {
  const columns = ['prediction', 'score1', 'score2'];
  const places = ['run', 'file'].flatMap((place) => columns.map((name) => `${name}_${place}`));
  return writeListed(
    outPath,
    ['seq_name', 'no', 'chunk', 'start', 'end', ...places],
    ({ seqName, row, chunk, start, end, run, file }: DifferingChunk) => [
      ...[seqName, row + 1, chunk, start, end],
      ...[run, file].flatMap(({ call, score1, score2 }) => [call, cellOfScore(score1), cellOfScore(score2)]),
    ],
    (onListed) => compareWithOriginal(store, path, onListed),
  );
}

/** The names in some ids that several sequences of the run have. */
async function namesOfSeveral(store: RunStore, ids: Iterable<string>): Promise<Set<string>> {
  const names = new Set<string>();
  for (const id of ids) names.add(sequenceOf(id));
  const rows = await store.rowsNamed([...names]);
  return new Set([...rows].flatMap(([name, own]) => (own.length > 1 ? [name] : [])));
}

const callOf = (isVirus: boolean): ChunkCall => (isVirus ? 'virus' : 'others');
