import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

export const SAMPLE = join(import.meta.dirname, '..', '..', 'python-backend', 'tests', 'data', 'sample.fa');

/**
 * Writes `copies` copies of the sample, each record under a different name. A run takes about a second for
 * each copy on two slow cores.
 */
export async function writeSample(path: string, copies: number): Promise<void> {
  const sample = await readFile(SAMPLE, 'utf8');
  const text = Array.from({ length: copies }, (_, copy) => sample.replaceAll('>', `>copy${copy}_`)).join('');
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

export const DEADLY_RESIDUES = 'MKTAYIAKQR';

/** Writes two sequences; workers that are set up to die of DEADLY_RESIDUES die of the second. */
export async function writePoisoned(path: string): Promise<void> {
  const filler = 'GCC'.repeat(60);
  const poison = 'ATGAAAACCGCCTACATCGCCAAACAGCGC';
  await writeFile(path, `>harmless\n${filler}${filler}\n>deadly\n${filler}${poison}${filler}\n`);
}
