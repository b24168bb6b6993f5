import { AppFailure, appError } from '../../../contract/errors.ts';
import type { VerifiedFile } from '../../../contract/rpc/runs.ts';
import { isRunFolder, isRunSound, verifyRun } from '../../../engine/index.ts';
import type { CommonFlags } from '../../commonFlags.ts';
import { EXIT } from '../../exitCodes.ts';
import { toStandardOutput } from '../../output/terminal.ts';

const WORDS: Record<VerifiedFile['verdict'], string> = {
  sound: 'is as it was written',
  damaged: 'is DAMAGED',
  missing: 'is not there',
};

/**
 * Compares all files of a run with their checksums and prints the result for each; with --quiet, only for
 * files with a problem.
 */
export async function verify(
  storeHost: URL,
  folder: string,
  { json, quiet }: Pick<CommonFlags, 'json' | 'quiet'>,
): Promise<number> {
  if (!isRunFolder(folder)) throw new AppFailure(appError('folder_not_a_run', `${folder} holds no run.db.`));
  const files = await verifyRun({ storeHost }, folder);
  const sound = isRunSound(files);
  const lines = json
    ? [JSON.stringify({ sound, files })]
    : [
        ...files
          .filter((file) => quiet !== true || !isRunSound([file]))
          .map(
            ({ kind, path, verdict, detail }) =>
              `${kind === 'input' && verdict === 'damaged' ? `${path} has CHANGED` : `${path} ${WORDS[verdict]}`}.${detail === null ? '' : ` ${detail}`}`,
          ),
        sound
          ? quiet === true
            ? ''
            : 'Nothing is damaged.'
          : `Not everything is as it was written. ${advice(folder, files)}`,
      ];
  const findings = lines.filter((line) => line !== '');
  if (findings.length > 0) toStandardOutput(findings.join('\n'));
  return sound ? EXIT.done : EXIT.damaged;
}

function advice(folder: string, files: readonly VerifiedFile[]): string {
  const bad = files.filter(({ verdict }) => verdict === 'damaged' || verdict === 'missing');
  if (bad.every(({ kind }) => kind === 'input'))
    return 'The results are those of the files as they were when the run read them.';
  return `Repair what can be repaired with: virnucpro resume ${JSON.stringify(folder)}`;
}
