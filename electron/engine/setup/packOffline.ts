/**
 * Writes a folder with everything that a computer of the same kind needs to set itself up without a network:
 * an archive of uv's cache with Python and the packages, and weights.
 */
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { appError, err, ok, type Result, failWith } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import {
  OFFLINE_LIST,
  OFFLINE_PACKING,
  type PackOffline,
  type StepProgress,
} from '../../contract/rpc/computer.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { ensureEnvironment } from '../environment/ensureEnvironment.ts';
import { describeFailure, installerFailure } from '../environment/install/failures.ts';
import { indexSettings, uvCache, uvFolder } from '../environment/install/uv.ts';
import type { Machine } from '../environment/machine.ts';
import { scrubbedEnvironment } from '../environment/pythonLaunch.ts';
import { readStamp, requirementsHash } from '../environment/requirements.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { Steps } from '../environment/steps.ts';
import { weightsFolder } from '../models/modelFolder.ts';
import { hashFile } from '../system/hashFile.ts';
import { KIND_HERE } from '../system/here.ts';
import { writeJson } from '../system/replaceFile.ts';
import { copyLargeFile, PLACES, type OfflineFile, type OfflineManifest } from './offlineFolder.ts';
import { installedModel, type InstalledModel } from './modelFiles.ts';

export interface PackRequest extends PackOffline {
  readonly paths: AppPaths;
  readonly appVersion: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly machine?: Machine;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (progress: StepProgress) => void;
}

interface PackedFolder {
  readonly folder: string;
  readonly manifest: OfflineManifest;
  readonly bytes: number;
}

/** A later call continues an interrupted or failed packing: what was downloaded is kept until one succeeds. */
export async function packOffline(
  request: PackRequest,
  run: CommandRunner = runCommand,
): Promise<Result<PackedFolder>> {
  const folder = resolve(request.folder);
  const interrupted = appError('offline_folder_unusable', message('offline.unfinished'));
  return pack({ ...request, folder }, run).catch((reason: unknown) =>
    err(describeFailure(reason, { folder, signal: request.signal, interrupted })),
  );
}

async function pack(request: PackRequest, run: CommandRunner): Promise<Result<PackedFolder>> {
  const { folder, paths, env = process.env, signal } = request;
  const models: InstalledModel[] = [];
  for (const id of request.models) {
    const model = await installedModel(id, paths);
    if (!model.ok) return model;
    models.push(model.value);
  }
  const claimed = await claim(folder);
  if (!claimed.ok) return claimed;
  const steps = new Steps(request.onProgress ?? (() => undefined));
  steps.later = 3;
  // The environment for the other computer is set up here, apart from this computer's own: what that leaves
  // in uv's cache is what the other computer needs.
  const scratch = join(uvFolder(paths), 'packing');
  const apart: AppPaths = { ...paths, dataDir: scratch, environmentFolder: join(scratch, 'python') };
  const made = await ensureEnvironment(
    {
      ...{ paths: apart, gpu: request.gpu, signal, steps, keepCache: true },
      ...(request.machine && { machine: request.machine }),
      // The other computer does not have a folder of wheels that is named here.
      env: { ...env, UV_FIND_LINKS: '' },
    },
    run,
  );
  if (!made.ok) return made;
  steps.later = 0;
  steps.begin(message('step.packing'), { left: 2 });
  const archive = join(scratch, PLACES.packages);
  const cache = ['-C', uvCache(apart), '.'];
  const packed = await run({
    file: 'tar',
    // What uv knows about interpreters holds for this computer only.
    args: ['-czf', `./${PLACES.packages}`, '--exclude', './interpreter-*', ...cache],
    env: scrubbedEnvironment(env),
    cwd: scratch,
    signal,
  });
  if (packed.ending !== 'succeeded') return err(installerFailure(packed));

  const weights = [
    ...new Map(models.flatMap(({ files }) => files).map((file) => [file.path, file])).values(),
  ];
  steps.begin(message('step.copying'), { bytes: sum(weights) + (await stat(archive)).size });
  await copyLargeFile(archive, join(folder, PLACES.packages), steps.more, signal);
  for (const { path } of weights) {
    const target = join(folder, PLACES.weights, path);
    await copyLargeFile(join(weightsFolder(paths), path), target, steps.more, signal);
  }

  const files: OfflineFile[] = [];
  steps.begin(message('step.checksums'), { bytes: sum(weights) + (await stat(archive)).size });
  const listed = weights.map(({ path, sha256 }) => ({ path: `${PLACES.weights}/${path}`, known: sha256 }));
  for (const { path, known } of [{ path: PLACES.packages, known: null }, ...listed]) {
    const file = join(folder, path);
    const sha256 = await hashFile(file, steps.more, signal);
    if ((known ?? sha256) !== sha256) {
      await rm(file);
      return failWith('model_damaged', `${basename(path)} is not what its model says it is.`);
    }
    files.push({ path, size: (await stat(file)).size, sha256 });
  }
  const pythons = await readdir(join(uvFolder(apart), 'python')).catch(() => []);
  const version = made.value.pythonVersion.split('.').slice(0, 2).join('.');
  const manifest: OfflineManifest = {
    schema: 2,
    appVersion: request.appVersion,
    platform: KIND_HERE,
    torchBuild: (await readStamp(apart.environmentFolder))?.torchBuild ?? '',
    python: { version, packed: pythons.some((name) => name.startsWith(`cpython-${version}`)) },
    indexes: indexSettings(env),
    requirements: await requirementsHash('run', paths),
    models: models.map(({ id, title }) => ({ id, title })),
    files,
  };
  writeJson(join(folder, OFFLINE_LIST), manifest);
  await rm(join(folder, OFFLINE_PACKING), { force: true });
  await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
  return ok({ folder, manifest, bytes: sum(files) });
}

/** Accepts a new or empty folder, or one in which packing was started before. */
async function claim(folder: string): Promise<Result<void>> {
  await mkdir(folder, { recursive: true });
  const names = await readdir(folder);
  const ours = names.includes(OFFLINE_LIST) || names.includes(OFFLINE_PACKING);
  // Ignores files that a file manager creates.
  const others = ['.DS_Store', 'Thumbs.db', 'desktop.ini', 'lost+found', 'System Volume Information'];
  if (!ours && names.some((name) => !others.includes(name)))
    return failWith('folder_not_ours', `There are other files in ${folder}.`);
  await writeFile(join(folder, OFFLINE_PACKING), '');
  for (const name of [OFFLINE_LIST, PLACES.packages]) await rm(join(folder, name), { force: true });
  return ok(undefined);
}

const sum = (files: readonly { readonly size: number }[]): number =>
  files.reduce((total, { size }) => total + size, 0);
