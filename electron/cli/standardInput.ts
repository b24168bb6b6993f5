import { createWriteStream, existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { appError, AppFailure } from '../contract/errors.ts';
import { hashFile, isRunFolder, replaceFile } from '../engine/index.ts';

/** Stands for standard input among the inputs. */
export const STANDARD_INPUT = '-';

interface PipedRun {
  outputDir?: string | undefined;
  force?: boolean | undefined;
}

/**
 * Stores standard input in a file beside the run's folder, because a run reads its inputs more than once, and
 * again after an interruption. Leaves no file if no run was created.
 */
export async function onStandardInput(
  { outputDir, force = false }: PipedRun,
  work: (file: string) => Promise<number>,
): Promise<number> {
  if (outputDir === undefined)
    throw usage('Sequences from standard input have no name.', 'Name the folder of the run with -o FOLDER.');
  if (process.stdin.isTTY)
    throw usage(
      'Nothing is piped into standard input.',
      'Such as: zcat *.fa.gz | virnucpro predict - -o FOLDER.',
    );
  const folder = resolve(outputDir);
  const file = `${folder}_stdin`;
  const arriving = `${file}.part`;
  try {
    await pipeline(process.stdin, createWriteStream(arriving));
    if (
      isRunFolder(folder) &&
      !force &&
      existsSync(file) &&
      (await hashFile(file)) !== (await hashFile(arriving))
    )
      throw usage(
        `The run in ${folder} was made from other sequences than those from standard input.`,
        'Name another folder for a new run.',
      );
    replaceFile(arriving, file);
  } finally {
    rmSync(arriving, { force: true });
  }
  try {
    return await work(file);
  } finally {
    if (!isRunFolder(folder)) rmSync(file, { force: true });
  }
}

const usage = (cause: string, nextStep: string): AppFailure =>
  new AppFailure(appError('usage', cause, { nextStep }));
