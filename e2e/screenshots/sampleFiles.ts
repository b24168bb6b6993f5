import { readFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

interface SampleFiles {
  readonly folder: string;
  readonly contigs: string;
  readonly plots: string;
}

/** Writes files that a user might have: good ones, a truncated one, and one of proteins. */
export async function makeSampleFiles(sample: string, root: string): Promise<SampleFiles> {
  const records = (await readFile(sample, 'utf8')).split(/^>/m).filter(Boolean);
  const folder = join(root, 'soil 2026');
  const contigs = join(folder, 'contigs.fasta');
  const plots = join(root, 'plots');
  await Promise.all([folder, plots].map((path) => mkdir(path, { recursive: true })));
  await writeFile(contigs, copies(records, 'contig', 20));
  await writeFile(join(folder, 'control.fna'), copies(records, 'control', 4));
  const packed = await promisify(gzip)(copies(records, 'river', 6));
  await writeFile(join(folder, 'river.fasta.gz'), packed.subarray(0, packed.length / 2));
  await writeFile(
    join(folder, 'proteins.faa'),
    Array.from({ length: 40 }, (_, n) => `>protein_${n}\nMKLVERTIPQWDFGHASNLLKEEVYRPQGHWWTDSAAKLMFFE\n`).join(
      '',
    ),
  );
  await writeFile(join(plots, 'plot_A.fasta'), copies(records, 'A', 160));
  await writeFile(join(plots, 'plot_B.fasta'), copies(records, 'B', 160));
  return { folder, contigs, plots };
}

function copies(records: readonly string[], prefix: string, times: number): string {
  return Array.from({ length: times }, (_, copy) =>
    records.map((record) => `>${prefix}_${copy}_${record}`).join(''),
  ).join('');
}
