import type { FrameName } from '../../contract/results.ts';
import { chunkId } from '../store/sqlite/results/tableRows.ts';
import { float32Text } from '../results/float32Text.ts';
import { demoMark } from '../../contract/plan.ts';
import type { ExportSource } from './exportSource.ts';
import { lettersOf } from './fastaFile.ts';
import { checkName, type InputSequences } from './inputSequences.ts';
import { reverseComplement, translate } from './translate.ts';
import type { WholeFile } from './wholeFile.ts';

const LETTERS_PER_LINE = 80;

/** The selected sequences in the order asked for, headers unchanged. */
export async function writeFasta(
  source: ExportSource,
  inputs: InputSequences,
  file: WholeFile,
): Promise<void> {
  for await (const { row, seqName } of source.sequences()) {
    const record = inputs.record(row);
    checkName(record, seqName);
    await file.write(record);
  }
}

/** The protein that decides for each sequence: of the frame with the highest virus score in the best chunk. Named like this frame
 * in prediction_results.txt. Sequences without a scored chunk have none. Answers with how many there are. */
export async function writeProteins(
  source: ExportSource,
  inputs: InputSequences,
  file: WholeFile,
): Promise<number> {
  const { model } = source.run.plan;
  const mark = demoMark(model);
  let proteins = 0;
  for await (const { sequence, chunks } of source.sequencesWithChunks()) {
    const best = chunks.find(
      ({ chunk }) => source.bounds(sequence, chunk).start + 1 === sequence.bestChunkStart,
    );
    if (!best) continue;
    const record = inputs.record(sequence.row);
    checkName(record, sequence.seqName);
    const { start, end } = source.bounds(sequence, best.chunk);
    const protein = frameProtein(lettersOf(record).slice(start, end), best.frame);
    const facts =
      `chunk=${start + 1}-${end} frame=${best.frame} score=${float32Text(best.score2)} ` +
      `call=${sequence.prediction}${mark === null ? '' : ` ${mark}`}`;
    await file.write(`>${chunkId(sequence.seqName, best.chunk)}${best.frame} ${facts}\n${wrapped(protein)}`);
    proteins += 1;
  }
  return proteins;
}

/** The protein of a reading frame of a chunk. */
export function frameProtein(chunk: string, frame: FrameName): string {
  const strand = frame.startsWith('F') ? chunk : reverseComplement(chunk);
  return translate(strand.slice(Number(frame[1]) - 1));
}

function wrapped(letters: string): string {
  let lines = '';
  for (let i = 0; i < letters.length; i += LETTERS_PER_LINE)
    lines += `${letters.slice(i, i + LETTERS_PER_LINE)}\n`;
  return lines;
}
