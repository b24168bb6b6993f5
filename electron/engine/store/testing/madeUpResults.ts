import { mkdirSync } from 'node:fs';
import type { SequenceResult } from '../../../contract/columns.ts';
import { RESULT_FILES } from '../../../contract/results.ts';
import { sequenceRow, type RunLabels } from '../../results/sequenceRow.ts';
import { randomNumbers } from '../../testing/randomNumbers.ts';
import { CheckedFiles } from '../checkedFiles.ts';
import { ResultFile, writeSequenceTables } from '../duckdb/resultFile.ts';
import { resultSource, type ResultSource } from '../duckdb/resultSource.ts';
import type { ResultFileDigest } from '../types.ts';

const INPUTS = 4;
const MOST_CHUNKS = 12;
const LABELS: RunLabels = {
  chunkLength: 500,
  inputs: Array.from({ length: INPUTS }, (_, input) => `sample_${input}.fa`),
  model: 'teaching',
  rows: [],
  mates: [],
  undecidedUpTo: 0.01,
  trusted: null,
  isMarked: false,
  isPaired: false,
  isCalibrated: false,
  looksTwice: false,
};

/** Mostly reads, and some contigs; a fifth of all chunks has no open frame. */
function* rowsOf(sequences: number): Generator<SequenceResult> {
  const random = randomNumbers(1);
  for (let row = 0; row < sequences; row++) {
    const nChunks = Math.max(1, Math.ceil(MOST_CHUNKS * random() ** 5));
    const scores: number[] = [];
    for (let i = 0; i < nChunks; i++) if (random() >= 0.2) scores.push(Math.fround(random() ** 2));
    const nChunksViral = scores.filter((score) => score >= 0.5).length;
    const isScored = scores.length > 0;
    const virusScore = isScored
      ? Math.fround(scores.reduce((sum, score) => sum + score, 0) / scores.length)
      : null;
    const [bestScore = null, secondScore = null] = scores.toSorted((a, b) => b - a);
    // Some names occur more than once.
    const name = `k141_${Math.imul(row, 7919) >>> 4}`;
    const record = {
      row,
      input: Math.floor((row / sequences) * INPUTS),
      name,
      header: `${name} flag=1 multi=${(1 + 30 * random()).toFixed(4)}`,
      length: nChunks * 500 - Math.floor(100 * random()),
      nChunks,
      nChunksLost: nChunks - scores.length,
      nChunksLostToTag: 0,
      nChunksLostToTga: 0,
      geneticCodeHint: null,
      terminalRepeat: null,
      terminalRepeatLength: null,
    };
    const summary = {
      nChunksScored: scores.length,
      nChunksViral,
      nBasesScored: 500 * scores.length,
      nBasesViral: 500 * nChunksViral,
      virusScore,
      margin: virusScore === null ? null : Math.fround(Math.abs(virusScore - 0.5)),
      prediction:
        virusScore === null
          ? ('not_scored' as const)
          : virusScore >= 0.5
            ? ('virus' as const)
            : ('others' as const),
      reason: isScored ? ('ok' as const) : ('no_open_frame' as const),
      bestScore,
      secondScore,
      bestChunk: isScored ? 0 : null,
      bestFrame: isScored ? Math.floor(6 * random()) : null,
      nFrames: scores.length + 1,
      nFramesScored: scores.length + Math.floor(2 * random()),
      judgedBy: null,
      along: null,
    };
    yield sequenceRow({ record, summary }, LABELS);
  }
}

/** Writes results.parquet of a run of made-up sequences, without its run.db. */
export async function writeMadeUpResults(folder: string, sequences: number): Promise<ResultFileDigest> {
  mkdirSync(folder, { recursive: true });
  const results = new ResultFile(folder, RESULT_FILES.results);
  const files = await writeSequenceTables(results, null, rowsOf(sequences), LABELS);
  results.publish();
  return files[results.name]!;
}

export function madeUpResults(folder: string, sequences: number, written: ResultFileDigest): ResultSource {
  return resultSource(
    folder,
    {
      labels: () => LABELS,
      finished: () => sequences,
      written: () => written,
      derive: () => {
        throw new Error('All of it is in the file.');
      },
      discard: () => undefined,
    },
    new CheckedFiles(folder),
  );
}
