import { FRAME_NAMES } from '../../../contract/results.ts';
import type { ChunkCall, DifferingChunk, OriginalComparison } from '../../../contract/rpc/results.ts';
import { callChunk, isVirusFrame, chunkBounds } from '../../results/sequenceTally.ts';
import { float32Text } from '../../results/cellText.ts';
import type { ScoredFrames } from '../../results/types.ts';
import { chunkId } from '../../store/tables/tableRows.ts';
import type { RunStore } from '../../store/runStore.ts';
import { WholeFile } from '../wholeFile.ts';
import { readOriginalResults, sequenceOf, type OriginalChunk } from './originalResults.ts';
import { ScoreAgreement } from './compareRuns.ts';

const PAGE_ROWS = 2000;
const EXAMPLES = 5;

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
): Promise<Omit<OriginalComparison, 'differing'>> {
  const [{ plan }, { file, kind, lines, chunks: theirs }] = await Promise.all([
    store.loadRun(),
    readOriginalResults(path, signal),
  ]);
  const ambiguousNames = await namesOfSeveral(store, theirs.keys());
  const calls = { virus: { virus: 0, others: 0 }, others: { virus: 0, others: 0 } };
  const frames = { inBoth: 0, onlyInRun: 0, onlyInFile: 0, sameCall: 0 };
  const scores = new ScoreAgreement();
  const onlyInRun: string[] = [];
  let [inBoth, onlyInRunCount, ambiguous] = [0, 0, 0];

  const rows = await store.selectedRows({ filter: {} }, { by: 'row', descending: false });
  for (let begin = 0; begin < rows.length; begin += PAGE_ROWS) {
    signal?.throwIfAborted();
    const page = rows.slice(begin, begin + PAGE_ROWS);
    const [sequences, scored] = await Promise.all([store.sequencesOf(page), store.scoredFramesOf(page)]);
    for (const [i, sequence] of sequences.entries()) {
      if (ambiguousNames.has(sequence.seqName)) continue;
      for (const ours of scored[i] ?? []) {
        const id = chunkId(sequence.seqName, ours.chunk);
        const their = theirs.get(id);
        if (their?.isRepeated === true) continue;
        theirs.delete(id);
        if (!their) {
          onlyInRunCount += 1;
          if (onlyInRun.length < EXAMPLES) onlyInRun.push(id);
          continue;
        }
        inBoth += 1;
        compareFrames(ours, their);
        const { isVirus, score1, score2 } = callChunk(ours.pairs);
        const [call, theirCall] = [callOf(isVirus), callOf(their.isVirus)];
        calls[call][theirCall] += 1;
        if (call === theirCall) continue;
        const { start, end } = chunkBounds(sequence.length, plan.chunkLength, ours.chunk);
        await onDiffering({
          row: sequence.row,
          seqName: sequence.seqName,
          chunk: ours.chunk + 1,
          start: start + 1,
          end,
          run: { call, score1, score2 },
          file: {
            call: theirCall,
            ...(kind === 'frames' ? largestOf(their) : { score1: null, score2: null }),
          },
        });
      }
    }
  }
  const onlyInFile: string[] = [];
  let onlyInFileCount = 0;
  for (const [id, { isRepeated }] of theirs) {
    if (isRepeated || ambiguousNames.has(sequenceOf(id))) {
      ambiguous += 1;
      continue;
    }
    onlyInFileCount += 1;
    if (onlyInFile.length < EXAMPLES) onlyInFile.push(id);
  }
  return {
    file,
    kind,
    lines,
    chunkLength: plan.chunkLength,
    inBoth,
    sameCall: calls.virus.virus + calls.others.others,
    calls,
    onlyInRun: { count: onlyInRunCount, examples: onlyInRun },
    onlyInFile: { count: onlyInFileCount, examples: onlyInFile },
    ambiguous,
    frames: kind === 'frames' ? frames : null,
    scores: scores.summary(),
  };

  function compareFrames({ frames: numbers, pairs }: ScoredFrames, their: OriginalChunk): void {
    if (kind === 'chunks') return;
    let found = 0;
    for (const [i, frame] of numbers.entries()) {
      const bit = 1 << frame;
      if ((their.frames & bit) === 0) {
        frames.onlyInRun += 1;
        continue;
      }
      found |= bit;
      frames.inBoth += 1;
      const [score1, score2] = [pairs[2 * i]!, pairs[2 * i + 1]!];
      if (isVirusFrame(score1, score2) === ((their.viralFrames & bit) !== 0)) frames.sameCall += 1;
      scores.add(score2, their.pairs[2 * frame + 1]!);
    }
    for (let frame = 0; frame < FRAME_NAMES.length; frame++)
      if (their.frames & ~found & (1 << frame)) frames.onlyInFile += 1;
  }
}

/** Writes the chunks whose call differs as a table, besides comparing. */
export async function writeOriginalComparison(
  store: RunStore,
  path: string,
  outPath: string,
): Promise<Omit<OriginalComparison, 'differing'>> {
  let comparison: Omit<OriginalComparison, 'differing'> | undefined;
  await WholeFile.write(outPath, async (file) => {
    await file.write(
      'seq_name\tno\tchunk\tstart\tend\tprediction_run\tscore1_run\tscore2_run\tprediction_file\tscore1_file\tscore2_file\n',
    );
    comparison = await compareWithOriginal(store, path, (one) => file.write(differingLine(one)));
  });
  if (!comparison) throw new Error('The comparison was not made.');
  return comparison;
}

function differingLine({ seqName, row, chunk, start, end, run, file }: DifferingChunk): string {
  const cells = [run, file].flatMap(({ call, score1, score2 }) => [
    call,
    score1 === null ? 'NA' : float32Text(score1),
    score2 === null ? 'NA' : float32Text(score2),
  ]);
  return `${[seqName, row + 1, chunk, start, end, ...cells].join('\t')}\n`;
}

/** The names in some ids that several sequences of the run have. */
async function namesOfSeveral(store: RunStore, ids: Iterable<string>): Promise<Set<string>> {
  const names = new Set<string>();
  for (const id of ids) names.add(sequenceOf(id));
  const rows = await store.rowsNamed([...names]);
  return new Set([...rows].flatMap(([name, own]) => (own.length > 1 ? [name] : [])));
}

const callOf = (isVirus: boolean): ChunkCall => (isVirus ? 'virus' : 'others');

function largestOf({ frames, pairs }: OriginalChunk): { score1: number; score2: number } {
  const found = { score1: 0, score2: 0 };
  for (let frame = 0; frame < FRAME_NAMES.length; frame++) {
    if ((frames & (1 << frame)) === 0) continue;
    found.score1 = Math.max(found.score1, pairs[2 * frame]!);
    found.score2 = Math.max(found.score2, pairs[2 * frame + 1]!);
  }
  return found;
}
