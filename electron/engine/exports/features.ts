import { exportFormat } from './format.ts';
import { isTooShort } from '../../contract/evidence.ts';
import { modelMark } from '../../contract/plan.ts';
import { float32Text } from '../results/cellText.ts';
import type { ExportSource } from './exportSource.ts';
import type { WholeFile } from './wholeFile.ts';

/*
 * Formats for genome browsers. They name a sequence by the first word of its header, as browsers and read
 * mappers do.
 */

/**
 * GFF3: a region for each sequence with its score, and below it one for each scored chunk, on the strand of
 * the deciding frame.
 */
async function writeGff3(source: ExportSource, file: WholeFile): Promise<void> {
  await file.write('##gff-version 3\n');
  await writeMark(source, file, '#');
  // One line for each name, even if several sequences have it.
  const declared = new Set<string>();
  for await (const { sequence, chunks } of source.sequencesWithChunks()) {
    if (sequence.length === 0) continue;
    const seqid = gffSeqid(sequence.seqName);
    const pragma = declared.has(seqid) ? '' : `##sequence-region ${seqid} 1 ${sequence.length}\n`;
    declared.add(seqid);
    const id = `seq${sequence.row + 1}`;
    const score = sequence.virusScore === null ? '.' : float32Text(sequence.virusScore);
    const attributes = [
      `ID=${id}`,
      `Name=${gffText(sequence.seqName)}`,
      `call=${sequence.prediction}`,
      ...(sequence.evidence === null ? [] : [`evidence=${sequence.evidence}`]),
      ...(isTooShort(sequence.length) ? ['too_short=true'] : []),
      ...(sequence.terminalRepeat === null
        ? []
        : [`terminal_repeat=${sequence.terminalRepeat}_${sequence.terminalRepeatLength}`]),
      `chunks_scored=${sequence.nChunksScored}`,
      `chunks_viral=${sequence.nChunksViral}`,
    ];
    let lines =
      pragma +
      `${seqid}\tVirNucPro\tregion\t1\t${sequence.length}\t${score}\t.\t.\t${attributes.join(';')}\n`;
    for (const { chunk, frame, score1, virusScore, isVirus } of chunks) {
      const { start, end } = source.bounds(sequence, chunk, frame);
      lines +=
        `${seqid}\tVirNucPro\tregion\t${start + 1}\t${end}\t${float32Text(virusScore)}\t${strandOf(frame)}\t.\t` +
        `ID=${id}.${chunk + 1};Parent=${id};Name=chunk_${chunk + 1}${frame};call=${isVirus ? 'virus' : 'others'};` +
        `frame=${frame};score_other=${float32Text(score1)}\n`;
    }
    await file.write(lines);
  }
}

/** BED: the chunks called virus, with score 0 to 1000 and the strand of the deciding frame. */
async function writeBed(source: ExportSource, file: WholeFile): Promise<void> {
  await writeMark(source, file, '#');
  for await (const { sequence, chunks } of source.sequencesWithChunks()) {
    let lines = '';
    for (const { chunk, frame, virusScore, isVirus } of chunks) {
      if (!isVirus) continue;
      const { start, end } = source.bounds(sequence, chunk, frame);
      lines += `${sequence.seqName}\t${start}\t${end}\tchunk_${chunk + 1}${frame}\t${Math.round(1000 * virusScore)}\t${strandOf(frame)}\n`;
    }
    await file.write(lines);
  }
}

async function writeMark({ run }: ExportSource, file: WholeFile, comment: string): Promise<void> {
  const mark = modelMark(run.plan.model);
  if (mark !== null) await file.write(`${comment} ${mark}\n`);
}

function strandOf(frame: string): '+' | '-' {
  return frame.startsWith('F') ? '+' : '-';
}

/** GFF3 allows only some characters in the first column; others are percent-encoded. */
function gffSeqid(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9.:^*$@!+_?|-]/gu, percentEncoded);
}

function gffText(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replaceAll(/[\0-\x1f\x7f%;=&,]/g, percentEncoded);
}

function percentEncoded(character: string): string {
  return [...Buffer.from(character, 'utf8')]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}

export const gff3 = exportFormat(
  'gff3',
  {
    en: ['Features (GFF3)', 'Sequences and their scored chunks, with strand, call and scores'],
    de: ['Merkmale (GFF3)', 'Sequenzen und ihre bewerteten Stücke, mit Strang, Einstufung und Werten'],
  },
  ({ source, file }) => writeGff3(source, file),
);

export const bed = exportFormat(
  'bed',
  {
    en: ['Viral chunks (BED)', 'The chunks called virus, such as for IGV'],
    de: ['Virale Stücke (BED)', 'Die als Virus eingestuften Stücke, etwa für IGV'],
  },
  ({ source, file }) => writeBed(source, file),
);
