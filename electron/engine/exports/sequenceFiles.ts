import type { SequenceResult } from '../../contract/columns.ts';
import { exportFormat } from './format.ts';
import { usage } from '../../contract/errors.ts';
import type { FrameName } from '../../contract/results.ts';
import { chunkId } from '../store/tables/tableRows.ts';
import { float32Text, cellText } from '../results/cellText.ts';
import { modelMark, type Plan } from '../../contract/plan.ts';
import type { OtherGeneticCode } from '../../contract/protocol/common.ts';
import type { ScoredChunk } from '../results/types.ts';
import type { ExportSource } from './exportSource.ts';
import { lettersOf, type InputSequences } from './inputSequences.ts';
import type { WholeFile } from './wholeFile.ts';

const LETTERS_PER_LINE = 80;

/** The selected sequences in the order asked for. */
async function writeFasta(source: ExportSource, inputs: InputSequences, file: WholeFile): Promise<void> {
  for await (const { row } of source.sequences()) await file.write(inputs.record(row));
}

/** A name that no other sequence of the run has, in one word of plain characters: `row12_contig_7`, with the number of the tables. */
function uniqueName({ row, seqName }: SequenceResult): string {
  return `row${row + 1}_${seqName.replaceAll(/[^!-~]/gu, '_')}`;
}

/**
 * For tools that use the first word of a header as the name and need unique names; the original header
 * follows.
 */
async function writeUniquelyNamed(
  source: ExportSource,
  inputs: InputSequences,
  file: WholeFile,
): Promise<void> {
  for await (const sequence of source.sequences()) {
    await file.write(`>${uniqueName(sequence)} `);
    await file.write(inputs.record(sequence.row).subarray(1));
  }
}

/**
 * Writes the deciding protein of each sequence: from the deciding frame of its best chunk, with the virus
 * score of this frame. It is named like this frame in prediction_results.txt. Sequences without a scored
 * chunk have none. Returns how many there are.
 */
async function writeProteins(source: ExportSource, inputs: InputSequences, file: WholeFile): Promise<number> {
  let proteins = 0;
  for await (const { sequence, chunks } of source.sequencesWithChunks()) {
    const protein = decidingProtein(source, sequence, chunks, () => inputs.record(sequence.row));
    if (protein === null) continue;
    await file.write(protein);
    proteins += 1;
  }
  return proteins;
}

/** As FASTA; null without a scored chunk. */
function decidingProtein(
  source: ExportSource,
  sequence: SequenceResult,
  chunks: readonly ScoredChunk[],
  record: () => Buffer,
): string | null {
  const best = chunks.find(
    ({ chunk, frame }) =>
      frame === sequence.bestFrame &&
      source.bounds(sequence, chunk, frame).start + 1 === sequence.bestChunkStart,
  );
  if (!best) return null;
  const { start, end } = source.bounds(sequence, best.chunk, best.frame);
  const protein = frameProtein(lettersOf(record()).slice(start, end), best.frame, source.run.plan);
  const mark = modelMark(source.run.plan.model);
  const facts =
    `chunk=${start + 1}-${end} frame=${best.frame} score=${float32Text(best.virusScore)} ` +
    `call=${sequence.prediction}${mark === null ? '' : ` ${mark}`}`;
  return `>${chunkId(sequence.seqName, best.chunk)}${best.frame} ${facts}\n${wrapped(protein)}`;
}

/** One sequence as FASTA, with its letters as in the input, and its deciding protein. */
export async function lettersOfOne(
  source: ExportSource,
  inputs: InputSequences,
): Promise<{ record: Buffer; protein: string | null }> {
  for await (const { sequence, chunks } of source.sequencesWithChunks()) {
    const record = inputs.record(sequence.row);
    return { record, protein: decidingProtein(source, sequence, chunks, () => record) };
  }
  throw usage('There is no such sequence in this run.');
}

function frameProtein(chunk: string, frame: FrameName, { geneticCode }: Plan): string {
  const strand = frame.startsWith('F') ? chunk : reverseComplement(chunk);
  return translate(strand.slice(Number(frame[1]) - 1), geneticCode);
}

function wrapped(letters: string): string {
  let lines = '';
  for (let i = 0; i < letters.length; i += LETTERS_PER_LINE)
    lines += `${letters.slice(i, i + LETTERS_PER_LINE)}\n`;
  return lines;
}

const BASES = 'TCAG';
/**
 * The standard genetic code in the order of NCBI's tables: T, C, A, G at the first position, then the second,
 * then the third.
 */
const AMINO_ACIDS = 'FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG';

const AMINO_ACID = new Map(
  Array.from(AMINO_ACIDS, (letter, i) => [
    BASES.charAt(i >> 4) + BASES.charAt((i >> 2) & 3) + BASES.charAt(i & 3),
    letter,
  ]),
);

/** The codons that other genetic codes read as an amino acid. */
const READ_AS: Record<OtherGeneticCode, ReadonlyMap<string, string>> = {
  4: new Map([...AMINO_ACID, ['TGA', 'W']]),
  15: new Map([...AMINO_ACID, ['TAG', 'Q']]),
};

/**
 * Translates like the method: a codon with a letter other than A, C, G or T adds nothing. `strand` is
 * upper-case.
 */
function translate(strand: string, code: Plan['geneticCode']): string {
  const aminoAcids = code === undefined ? AMINO_ACID : READ_AS[code];
  let protein = '';
  for (let i = 0; i + 3 <= strand.length; i += 3) protein += aminoAcids.get(strand.slice(i, i + 3)) ?? '';
  return protein;
}

const COMPLEMENT: Readonly<Record<string, string>> = { A: 'T', C: 'G', G: 'C', T: 'A' };

/** Letters other than A, C, G and T are not complemented, only moved. */
function reverseComplement(strand: string): string {
  let reverse = '';
  for (let i = strand.length - 1; i >= 0; i--) reverse += COMPLEMENT[strand[i]!] ?? strand[i]!;
  return reverse;
}

export const fasta = exportFormat(
  'fasta',
  {
    en: ['Sequences (FASTA)', 'With their whole header lines; reads the input files once more'],
    de: ['Sequenzen (FASTA)', 'Mit vollständigen Kopfzeilen; liest die Eingabedateien noch einmal'],
  },
  ({ source, file, withSequences }) => withSequences((inputs) => writeFasta(source, inputs, file)),
  { ending: '.fna' },
);

export const checkv = exportFormat(
  'checkv',
  {
    en: [
      'Sequences for CheckV (FASTA)',
      'Each with a first word that no other has; reads the input files once more',
    ],
    de: [
      'Sequenzen für CheckV (FASTA)',
      'Jede mit einem ersten Wort, das keine andere hat; liest die Eingabedateien noch einmal',
    ],
  },
  ({ source, file, withSequences }) => withSequences((inputs) => writeUniquelyNamed(source, inputs, file)),
  { ending: '_checkv.fna' },
);

export const proteins = exportFormat(
  'proteins',
  {
    en: [
      'Proteins of the deciding frames (FASTA)',
      'Of each sequence the protein of the frame that decides its best chunk; reads the input files once more',
    ],
    de: [
      'Proteine der entscheidenden Rahmen (FASTA)',
      'Von jeder Sequenz das Protein des Rahmens, der ihr bestes Stück entscheidet; liest die Eingabedateien noch einmal',
    ],
  },
  ({ source, file, withSequences }) => withSequences((inputs) => writeProteins(source, inputs, file)),
  { ending: '_proteins.faa' },
);

/**
 * Lists which row of which file below work/embeddings holds which reading frame, because the files themselves
 * have no names.
 */
async function writeEmbeddingRows(source: ExportSource, file: WholeFile): Promise<void> {
  const { store, run } = source;
  if (run.plan.embeddings === null) {
    throw usage(
      'This run kept no embeddings.',
      'They are kept by runs that are started with --embeddings, or "Keep embeddings" in the window.',
    );
  }
  await file.write('file\trow\tno\tid\tsample\tstart\tend\tframe\n');
  for (const { key } of await store.partsIn('done')) {
    source.signal?.throwIfAborted();
    const lines = (await store.framesOf(key)).map(({ row, name, input, length, chunk, frame }, place) => {
      const { start, end } = source.bounds({ length }, chunk, frame);
      const sample = cellText(source.samples[input] ?? '');
      return `embeddings/${key}.safetensors\t${place}\t${row + 1}\t${name}\t${sample}\t${start + 1}\t${end}\t${frame}\n`;
    });
    await file.write(lines.join(''));
  }
}

export const embeddings = exportFormat(
  'embeddings',
  {
    en: [
      'Index of the embeddings (TSV)',
      'Which row of which file of the run’s work/embeddings folder belongs to which reading frame',
    ],
    de: [
      'Verzeichnis der Embeddings (TSV)',
      'Welche Zeile welcher Datei im Ordner work/embeddings des Laufs zu welchem Leserahmen gehört',
    ],
  },
  ({ source, file }) => writeEmbeddingRows(source, file),
  { ending: '_embeddings.tsv', isOfWholeRun: true, needsEmbeddings: true },
);
