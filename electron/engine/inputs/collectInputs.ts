import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { appError } from '../../contract/errors.ts';
import { err, ok, type Result } from '../../contract/result.ts';

/** Endings by which files are picked out of a folder; a file named by itself may be called anything. */
const SEQUENCE_FILE = /\.(fa|fasta|fna|fas|ffn|frn|fq|fastq)(\.(gz|bz2|xz|zst))?$/i;

export interface CollectedInputs {
  paths: string[];
  /** Files in folders that were left out because of their ending. */
  ignored: number;
}

/** The files that the user named, and the sequence files below the folders that they named; each once, in order. */
export async function collectInputs(named: readonly string[]): Promise<Result<CollectedInputs>> {
  const paths = new Set<string>();
  let ignored = 0;
  for (const name of named) {
    const path = resolve(name);
    const info = await stat(path).catch(() => undefined);
    if (!info) return err(appError('input_not_found', `There is no file ${path}.`));
    if (!info.isDirectory()) {
      paths.add(path);
      continue;
    }
    for (const file of await filesBelow(path)) {
      if (SEQUENCE_FILE.test(file)) paths.add(file);
      else ignored += 1;
    }
  }
  if (paths.size === 0) {
    return err(appError('no_sequences', 'The folder holds no FASTA or FASTQ files (by their endings).'));
  }
  return ok({ paths: [...paths], ignored });
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
