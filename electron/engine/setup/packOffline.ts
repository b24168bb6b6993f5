/** Writes a folder with everything that a computer without a network needs to set itself up: uv, Python, packages, weights. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import { appError, asAppError, type AppError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { OFFLINE_LIST, OFFLINE_PACKING } from '../../contract/rpc/computer.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import { freeBytes } from '../devices/computerChecks.ts';
import { formatBytes } from '../format/format.ts';
import { pyTorchFor } from '../environment/install/choosePyTorch.ts';
import { downloadSizes } from '../environment/install/downloadSizes.ts';
import { installFailure } from '../environment/install/installFailure.ts';
import { uvEnvironment } from '../environment/install/uv.ts';
import { MANAGED_PYTHON, SUPPORTED_VERSIONS } from '../environment/machine/supportedPython.ts';
import { requirementsHash } from '../environment/requirements.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { weightsFolder } from '../models/weightsFolder.ts';
import { hashFile } from '../files/hashFile.ts';
import { replaceFile } from '../files/replaceFile.ts';
import { copyLargeFile } from './copyFile.ts';
import { downloader, putUv, type ToolsRequest } from './fetchTools.ts';
import { installedModel, type InstalledModel } from './modelFiles.ts';
import { PLACES, type OfflineFile, type OfflineManifest } from './offlineFolder.ts';
import { packPackages } from './packPackages.ts';
import type { Packing, PackRequest } from './packing.ts';
import { countedSteps } from './countedSteps.ts';
import { ownPlatform, TARGETS } from './targets.ts';

interface PackedFolder {
  readonly folder: string;
  readonly manifest: OfflineManifest;
  readonly bytes: number;
}

const STEPS = 6;
/** uv, Python's archive and its companions. */
const TOOLS_BYTES = 150e6;

/** An interrupted or failed one goes on in the same folder. */
export async function packOffline(
  request: PackRequest,
  run: CommandRunner = runCommand,
): Promise<Result<PackedFolder>> {
  const folder = resolve(request.folder);
  const mine = await claim(folder).catch((reason: unknown) => err(inWords(reason, request)));
  if (!mine.ok) return mine;
  const work = await mkdtemp(join(folder, '.packing-'));
  try {
    const packed = await pack({ ...request, folder }, work, run);
    if (packed.ok) await rm(join(folder, OFFLINE_PACKING), { force: true });
    return packed.ok ? packed : err(inTarget(packed.error, folder));
  } catch (reason) {
    return err(inWords(reason, request));
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

/** Takes a new or empty folder, or one that this was begun in before. */
async function claim(folder: string): Promise<Result<void>> {
  await mkdir(folder, { recursive: true });
  const names = await readdir(folder);
  const ours = names.includes(OFFLINE_LIST) || names.includes(OFFLINE_PACKING);
  // What a file manager leaves behind.
  if (
    !ours &&
    names.some(
      (name) =>
        !['.DS_Store', 'Thumbs.db', 'desktop.ini', 'lost+found', 'System Volume Information'].includes(name),
    )
  ) {
    return err(appError('folder_not_ours', `There are other files in ${folder}.`));
  }
  await writeFile(join(folder, OFFLINE_PACKING), '');
  await rm(join(folder, OFFLINE_LIST), { force: true });
  return ok(undefined);
}

async function pack(request: PackRequest, work: string, run: CommandRunner): Promise<Result<PackedFolder>> {
  const { folder, paths, platform } = request;
  const env = request.env ?? process.env;
  const torch = pyTorchFor(platform, request.gpu);
  if (torch === null) {
    return err(
      appError('usage', `There is no PyTorch for GPUs of the kind "${request.gpu}" on ${platform}.`),
    );
  }
  if (request.systemPython !== null && !SUPPORTED_VERSIONS.includes(request.systemPython)) {
    return err(appError('usage', `The packages are not made for Python ${request.systemPython}.`));
  }
  const models: InstalledModel[] = [];
  for (const id of request.models) {
    const model = await installedModel(id, paths);
    if (!model.ok) return model;
    models.push(model.value);
  }
  const sizes = await downloadSizes(paths, TARGETS[platform], torch);
  const room = await roomFor(folder, models, sizes.packages, sizes.torch);
  if (!room.ok) return room;

  const steps = countedSteps(STEPS, request.onProgress ?? (() => undefined));
  const tools: ToolsRequest = {
    paths,
    environment: request.environment,
    env,
    run,
    signal: request.signal,
    work,
  };
  steps.begin(message('step.get_installer'));
  const download = await downloader(tools);
  if (!download.ok) return download;
  const targetUv = await putUv(tools, download.value, platform, join(folder, PLACES.uv));
  if (!targetUv.ok) return targetUv;
  const own = ownPlatform();
  if (own === null)
    return err(appError('computer_unsupported', 'Folders can not be packed on this kind of computer.'));
  const uv = own === platform ? targetUv : await putUv(tools, download.value, own, join(work, 'uv'));
  if (!uv.ok) return uv;
  const packing: Packing = {
    ...request,
    folder,
    work,
    run,
    env,
    uv: uv.value,
    download: download.value,
    steps,
  };

  steps.begin(message('step.get_python', { version: request.systemPython ?? MANAGED_PYTHON }));
  const python = await packPython(packing);
  if (!python.ok) return python;
  const packages = await packPackages(packing, torch, sizes);
  if (!packages.ok) return packages;

  const files = new Map(models.flatMap((model) => model.files).map((file) => [file.path, file]));
  steps.begin(message('step.weights'), sum([...files.values()]));
  for (const { path } of files.values()) {
    await copyLargeFile(
      join(weightsFolder(paths), path),
      join(folder, PLACES.weights, path),
      steps.more,
      request.signal,
    );
  }

  const listed = await checksums(
    packing,
    new Map([...files].map(([path, { sha256 }]) => [`${PLACES.weights}/${path}`, sha256])),
  );
  if (!listed.ok) return listed;
  const manifest: OfflineManifest = {
    schema: 1,
    appVersion: request.appVersion,
    platform,
    torchBuild: packages.value,
    python: { version: request.systemPython ?? MANAGED_PYTHON, packed: request.systemPython === null },
    requirements: await requirementsHash('run', paths, 'uv'),
    models: models.map(({ id, title }) => ({ id, title })),
    files: listed.value,
  };
  const file = join(folder, OFFLINE_LIST);
  await writeFile(`${file}.tmp`, `${JSON.stringify(manifest, null, 2)}\n`);
  replaceFile(`${file}.tmp`, file);
  return ok({ folder, manifest, bytes: sum(listed.value) });
}

async function roomFor(
  folder: string,
  models: readonly InstalledModel[],
  packages: number | null,
  torch: number | null,
): Promise<Result<void>> {
  const free = await freeBytes(folder);
  const files = new Map(models.flatMap(({ files: each }) => each).map((file) => [file.path, file]));
  const present = await bytesIn(folder);
  const needed = sum([...files.values()]) + (packages ?? 0) + (torch ?? 0) + TOOLS_BYTES - present;
  if (free === null || free >= needed) return ok(undefined);
  return err(
    appError(
      'disk_full',
      `About ${formatBytes(needed)} are needed in ${folder}, and ${formatBytes(free)} are free.`,
      {
        nextStep: 'Free some space, choose another disk, or take fewer models along.',
      },
    ),
  );
}

/** The archive of the managed Python, by uv, which checks it by its hash and keeps it under a name that begins with it. */
async function packPython(packing: Packing): Promise<Result<void>> {
  const { folder, paths, run, env, uv, work, signal, systemPython, platform } = packing;
  const archives = join(folder, PLACES.python);
  if (systemPython !== null) {
    await rm(archives, { recursive: true, force: true });
    return ok(undefined);
  }
  await mkdir(archives, { recursive: true });
  const fetched = await run({
    file: uv,
    args: [
      'python',
      'install',
      '--managed-python',
      '--install-dir',
      join(work, 'python'),
      `cpython-${MANAGED_PYTHON}-${TARGETS[platform].pythonKey}`,
    ],
    env: {
      ...uvEnvironment(paths, env, 'short'),
      UV_CACHE_DIR: join(work, 'cache'),
      UV_PYTHON_CACHE_DIR: archives,
    },
    signal,
  });
  let whole = false;
  for (const name of await readdir(archives)) {
    const file = join(archives, name);
    const [beginning = ''] = name.split('-');
    if ((await hashFile(file)).startsWith(beginning)) whole = true;
    else await rm(file);
  }
  // Where it can't be unpacked here, such as for Windows on Linux, what counts is that it is here.
  if (whole) return ok(undefined);
  const failure = installFailure(fetched);
  return err({
    ...failure,
    cause: `Python for the other computer could not be fetched. ${failure.cause}`,
    nextStep: `${failure.nextStep} Or pack for a Python that the other computer has (--system-python 3.12).`,
  });
}

/** `known`: what files have to be, by their path in the folder. */
async function checksums(
  { folder, steps, signal }: Packing,
  known: ReadonlyMap<string, string | null>,
): Promise<Result<OfflineFile[]>> {
  const paths: string[] = existsSync(join(folder, PLACES.torchLock)) ? [PLACES.torchLock] : [];
  for (const place of [PLACES.uv, PLACES.python, PLACES.wheels]) {
    const names = await readdir(join(folder, place)).catch(() => []);
    paths.push(...names.map((name) => `${place}/${name}`));
  }
  paths.push(...known.keys());
  steps.begin(message('step.checksums'), await bytesIn(folder));
  const files: OfflineFile[] = [];
  for (const path of paths.sort()) {
    const file = join(folder, path);
    const { size } = await stat(file);
    const sha256 = await hashFile(file, steps.more, signal);
    if ((known.get(path) ?? sha256) !== sha256) {
      await rm(file);
      return err(appError('model_damaged', `${basename(path)} is not what its model says it is.`));
    }
    files.push({ path, size, sha256 });
  }
  return ok(files);
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter(
    (entry) => entry.isFile() && !relative(folder, entry.parentPath).split(sep)[0]?.startsWith('.packing-'),
  );
  const sizes = await Promise.all(
    files.map((entry) => stat(join(entry.parentPath, entry.name)).catch(() => undefined)),
  );
  return sum(sizes.map((info) => ({ size: info?.size ?? 0 })));
}

function sum(files: readonly { readonly size: number }[]): number {
  return files.reduce((total, { size }) => total + size, 0);
}

/** The installer speaks of the environment's folder, which is not what is full here. */
function inTarget(error: AppError, folder: string): AppError {
  if (error.code !== 'disk_full') return error;
  return {
    ...error,
    cause: `The disk of ${folder} is full.`,
    nextStep: 'Free some space or choose another disk, then start again: it goes on where it stopped.',
  };
}

function inWords(reason: unknown, { folder, signal }: PackRequest): AppError {
  if (signal?.aborted) {
    return appError('offline_folder_unusable', 'Packing was interrupted.', {
      nextStep: 'Pack it again into the same folder: it goes on where it stopped.',
    });
  }
  switch (reason instanceof Error ? (reason as NodeJS.ErrnoException).code : undefined) {
    case 'ENOSPC':
      return inTarget(appError('disk_full', ''), folder);
    case 'EFBIG':
      return appError(
        'folder_unwritable',
        `The disk of ${folder} takes no files of more than 4 GB, as FAT32 does.`,
        {
          nextStep: 'Format it with exFAT, or choose another disk.',
        },
      );
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return appError('folder_unwritable', `${folder} cannot be written.`);
    default:
      return asAppError(reason);
  }
}
