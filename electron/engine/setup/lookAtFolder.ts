/** What a folder is from which somebody wants to set this computer up, before anything is done with it. */
import { appError, type AppError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { OfflineFolder } from '../../contract/rpc/computer.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { lookAtMachine, type Machine } from '../environment/machine/machine.ts';
import { unsupportedMachine } from '../environment/machine/unsupportedMachine.ts';
import { requirementsHash } from '../environment/requirements.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { isOfflineFolder, readOfflineManifest, type OfflineManifest } from './offlineFolder.ts';

/** Reads its list only: whether its files are whole is found out before the first is used. */
export async function lookAtFolder(
  folder: string,
  paths: AppPaths,
  env: NodeJS.ProcessEnv = process.env,
  run: CommandRunner = runCommand,
): Promise<OfflineFolder> {
  if (!(await isOfflineFolder(folder))) return { state: 'other' };
  const read = await readOfflineManifest(folder);
  if (!read.ok) return { state: 'unusable', error: read.error };
  const { python, torchBuild, models, files } = read.value;
  const unfit = await unfitFor(await lookAtMachine(run, env), read.value, paths);
  if (unfit) return { state: 'unusable', error: unfit };
  return {
    state: 'usable',
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    packedPython: python.packed ? python.version : null,
    torchBuild,
    models: models.map(({ title }) => title),
  };
}

/** Why a folder can't set up a computer, whole as it may be; null where it can. */
export async function unfitFor(
  machine: Machine,
  manifest: OfflineManifest,
  paths: AppPaths,
): Promise<AppError | null> {
  const unsupported = unsupportedMachine(machine);
  if (unsupported) return unsupported;
  const here = `${machine.platform}-${machine.arch}`;
  if (manifest.platform !== here) {
    return appError(
      'offline_folder_unusable',
      message('offline.platform', { platform: manifest.platform, here }),
      { nextStep: message('offline.platform.next', { here }) },
    );
  }
  if (manifest.requirements !== (await requirementsHash('run', paths, 'uv'))) {
    return appError('offline_folder_unusable', message('offline.version', { version: manifest.appVersion }), {
      nextStep: message('offline.version.next'),
    });
  }
  return null;
}
