import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

export const SAMPLE = join(import.meta.dirname, '..', '..', 'python-backend', 'tests', 'data', 'sample.fa');

/**
 * Writes `copies` copies of the sample, each record under a different name. A run takes about a second for
 * each copy on two slow cores.
 */
export async function writeSample(path: string, copies: number, name = 'copy'): Promise<void> {
  const sample = await readFile(SAMPLE, 'utf8');
  const text = Array.from({ length: copies }, (_, copy) => sample.replaceAll('>', `>${name}${copy}_`)).join(
    '',
  );
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/**
 * Writes a folder that a user might have: a good file, a truncated one, one of proteins, an empty one, and
 * one that is none of these.
 */
export async function writeMixedFolder(folder: string): Promise<void> {
  await mkdir(join(folder, 'below'), { recursive: true });
  const sample = await readFile(SAMPLE, 'utf8');
  await writeFile(join(folder, 'good.fasta'), sample);
  const packed = gzipSync(sample);
  await writeFile(join(folder, 'below', 'cut off.fa.gz'), packed.subarray(0, packed.length / 2));
  await writeFile(join(folder, 'empty.fna'), '');
  const protein = 'MKLVERTIPQWDFGHASNLLKEEVYRPQGHWWTDSAAKLMFFE';
  const proteins = Array.from({ length: 40 }, (_, n) => `>protein_${n}\n${protein}\n`);
  await writeFile(join(folder, 'proteins.fasta'), proteins.join(''));
  await writeFile(join(folder, 'notes.txt'), 'not a sequence file');
}

/** Writes sixteen files of a first day, of which ten can be computed as they are, and a sample sheet. */
export async function writeFirstDay(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const sample = await readFile(SAMPLE, 'utf8');
  const letters = sample.replaceAll(/^>.*$/gm, '').replaceAll('\n', '');
  const reads = (mate: number): string =>
    (letters.match(/[ACGT]{150}/g) ?? [])
      .map((read, n) => `@r${n}/${mate}\n${read}\n+\n${'I'.repeat(150)}\n`)
      .join('');
  const [one = '', other = '', ...more] = letters.match(/[ACGT]{600}/g) ?? [];
  const contigs = (place: number): string =>
    more
      .filter((_, n) => n % 6 === place)
      .map((contig, n) => `>contig_${n}\n${contig}\n`)
      .join('');
  const aligned = `>a\n${one.slice(0, 500)}${'-'.repeat(100)}\n>b\n${other}\n`;
  const files: Record<string, string | Buffer> = {
    ...Object.fromEntries(
      ['gut contigs.fasta', 'soil.fasta', 'Site_A.fa', 'Site_B.fa', 'blank.fasta', 'Gewässer.fna'].map(
        (name, n) => [name, contigs(n)],
      ),
    ),
    'crlf.fasta': contigs(0).replaceAll('\n', '\r\n'),
    'pond_R1.fastq.gz': gzipSync(reads(1)),
    'pond_R2.fastq.gz': gzipSync(reads(2)),
    'empty.fasta': '',
    'proteins.fa': '>p\nMKLVERTIPQWDFGHASNLLKEEVYRPQGHWWTDSAAKLMFFE\n'.repeat(40),
    'contigs list.xlsx.fasta': 'PK\u0003\u0004 a workbook',
    'record.fa': 'LOCUS       NC_000001  600 bp  DNA\nORIGIN\n        1 acgtacgtac\n//\n',
    'rna.fasta': contigs(1).replaceAll(/^[^>].*$/gm, (line) => line.replaceAll('T', 'U')),
    'alignment.fasta': aligned,
    'cut off.fasta.gz': gzipSync(sample).subarray(0, 2000),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  await writeFile(
    join(folder, 'samples.csv'),
    'file,sample,group,control\nSite_A.fa,A,site,\nSite_B.fa,B,site,\nblank.fasta,Blank,,yes\n',
  );
}

export const DEADLY_RESIDUES = 'MKTAYIAKQR';

/** Writes two sequences; workers that are set up to die of DEADLY_RESIDUES die of the second. */
export async function writePoisoned(path: string): Promise<void> {
  const filler = 'GCC'.repeat(60);
  const poison = 'ATGAAAACCGCCTACATCGCCAAACAGCGC';
  await writeFile(path, `>harmless\n${filler}${filler}\n>deadly\n${filler}${poison}${filler}\n`);
}
