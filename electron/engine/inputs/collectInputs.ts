import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { appError, AppFailure, asAppError } from '../../contract/errors.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import { isOurName, isRunFolder } from '../store/runFolder.ts';

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
  try {
    for (const name of named) {
      const path = resolve(name);
      const info = await stat(path).catch(() => undefined);
      if (!info) return err(appError('input_not_found', `There is no file ${path}.`));
      if (info.isFile()) {
        paths.add(path);
      } else if (info.isDirectory()) {
        const files = (await filesBelow(path, new Set())).sort();
        for (const file of files) {
          if (SEQUENCE_FILE.test(file)) paths.add(file);
          else ignored += 1;
        }
      } else {
        return err(
          appError('input_unreadable', `${path} is a pipe or a device, and a run reads its inputs twice.`, {
            nextStep: 'Write its content to a file, and choose that.',
          }),
        );
      }
    }
  } catch (reason) {
    return err(asAppError(reason));
  }
  if (paths.size === 0) {
    return err(appError('no_sequences', 'The folder holds no FASTA or FASTQ files (by their endings).'));
  }
  return ok({ paths: [...paths], ignored });
}

/**
 * Links are followed, and a link to nowhere counts as a file, so that looking into it tells what is wrong. The results of an
 * earlier run, which hold sequences as well, are nobody's input unless named.
 */
async function filesBelow(folder: string, entered: Set<string>): Promise<string[]> {
  const real = await realpath(folder);
  // Links can lead round in a circle.
  if (entered.has(real)) return [];
  entered.add(real);
  const ofRun = isRunFolder(folder);
  const files: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (ofRun && isOurName(entry.name)) continue;
    const kind = entry.isSymbolicLink() ? await stat(path).catch(() => entry) : entry;
    if (kind.isDirectory()) files.push(...(await filesBelow(path, entered)));
    else if ((kind.isFile() || kind.isSymbolicLink()) && !entry.name.startsWith('.')) files.push(path);
  }
  return files;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (reason) {
    throw new AppFailure(
      appError('input_unreadable', `The folder ${folder} cannot be read: ${asAppError(reason).cause}`, {
        nextStep: 'Check that you may read this folder, or name the files themselves.',
      }),
    );
  }
}
