/** Refuses settings of the set-up that could not work, so that the field can show it at once. */
import { X509Certificate } from 'node:crypto';
import { access, constants, readFile, stat } from 'node:fs/promises';
import { dirname, isAbsolute } from 'node:path';
import { AppFailure } from '../../../contract/errors.ts';
import type { Settings } from '../../../contract/rpc/computer.ts';
import { tooLong, type PathLimit } from '../../files/pathLength.ts';
import { usage } from '../failures.ts';
import type { PythonEnvironmentManager } from './pythonEnvironmentManager.ts';

/** Characters of the longest path that the Python environment has below the data folder, as seen on Linux: a licence of PyTorch's. */
const LONGEST_BELOW = 198;

type Change = { [Name in keyof Settings]?: Settings[Name] | undefined };

export async function checkSetUp(
  { dataFolder, certificateFile, interpreter }: Change,
  pythonEnvironment: Pick<PythonEnvironmentManager, 'tryInterpreter'>,
  limit?: PathLimit,
): Promise<void> {
  if (dataFolder) {
    const long = tooLong(dataFolder, { code: 'usage', below: LONGEST_BELOW }, limit);
    if (long !== undefined) throw new AppFailure(long);
    await checkFolder(dataFolder);
  }
  if (certificateFile) await checkCertificate(certificateFile);
  if (interpreter) {
    const found = await pythonEnvironment.tryInterpreter(interpreter);
    if (!found.ok) throw new AppFailure(found.error);
  }
}

/** The folder need not exist yet, but its nearest existing parent must allow creating it. */
async function checkFolder(folder: string): Promise<void> {
  if (!isAbsolute(folder)) throw usage(`${folder} is not a whole path.`, 'Choose a folder.');
  for (let place = folder; ; place = dirname(place)) {
    const info = await stat(place).catch(() => undefined);
    if (info === undefined && dirname(place) !== place) continue;
    if (!info?.isDirectory()) throw usage(`${place} is not a folder.`, 'Choose a folder.');
    await access(place, constants.W_OK).catch(() => {
      throw usage(`${place} may not be written to.`, 'Choose another folder.');
    });
    return;
  }
}

async function checkCertificate(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw usage(`${file} cannot be read.`, 'Choose another file.');
  });
  try {
    new X509Certificate(text);
  } catch {
    throw usage(
      `${file} holds no certificate in PEM format.`,
      'Choose a file that begins with "-----BEGIN CERTIFICATE-----".',
    );
  }
}
