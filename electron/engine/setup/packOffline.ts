/**
 * Writes a folder with everything that a computer needs to set itself up without a network: uv, Python,
 * packages, weights.
 */
import { copyFile, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { appError, err, ok, type Result, failWith } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { OFFLINE_LIST, OFFLINE_PACKING } from '../../contract/rpc/computer.ts';
import { freeBytes } from '../devices/computerChecks.ts';
import { pyTorchFor } from '../environment/install/choosePyTorch.ts';
import { describeFailure, diskFull, installerFailure } from '../environment/install/failures.ts';
import { downloadSizes, type DownloadSizes } from '../environment/install/setUpPlan.ts';
import {
  fetchOtherUv,
  fetchOwnUv,
  findUv,
  UV_KINDS,
  uvEnvironment,
  uvFileName,
} from '../environment/install/uv.ts';
import { MANAGED_PYTHON, SUPPORTED_VERSIONS } from '../environment/machine.ts';
import { requirementsHash } from '../environment/requirements.ts';
import { runCommand, type CommandRunner } from '../environment/runCommand.ts';
import { Steps } from '../environment/steps.ts';
import { formatBytes } from '../../contract/terminal/format.ts';
import { weightsFolder } from '../models/modelFolder.ts';
import { hashFile } from '../system/hashFile.ts';
import { writeJson } from '../system/replaceFile.ts';
import { copyLargeFile, PLACES, type OfflineFile, type OfflineManifest } from './offlineFolder.ts';
import { installedModel, type InstalledModel } from './modelFiles.ts';
import { packPackages, type PackRequest, type Packing } from './packPackages.ts';

interface PackedFolder {
  readonly folder: string;
  readonly manifest: OfflineManifest;
  readonly bytes: number;
}

const STEPS = 6;
/** The size of uv, of Python's archive and of the files that belong to it. */
const TOOLS_BYTES = 150e6;

/** A later call continues an interrupted or failed packing in the same folder. */
export async function packOffline(
  request: PackRequest,
  run: CommandRunner = runCommand,
): Promise<Result<PackedFolder>> {
  const folder = resolve(request.folder);
  const interrupted = appError('offline_folder_unusable', 'Packing was interrupted.', {
    nextStep: 'Pack it again into the same folder: it goes on where it stopped.',
  });
  const failed = (reason: unknown): Result<never> =>
    err(describeFailure(reason, { folder, signal: request.signal, interrupted }));
  const mine = await claim(folder).catch(failed);
  if (!mine.ok) return mine;
  const work = await mkdtemp(join(folder, '.packing-'));
  try {
    const packed = await pack({ ...request, folder }, work, run);
    if (packed.ok) await rm(join(folder, OFFLINE_PACKING), { force: true });
    // uv's error names the environment's folder, but it is the disk of this folder that is full.
    return packed.ok || packed.error.code !== 'disk_full' ? packed : err(diskFull(folder));
  } catch (reason) {
    return failed(reason);
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

/** Accepts a new or empty folder, or one in which packing was started before. */
async function claim(folder: string): Promise<Result<void>> {
  await mkdir(folder, { recursive: true });
  const names = await readdir(folder);
  const ours = names.includes(OFFLINE_LIST) || names.includes(OFFLINE_PACKING);
  // Ignores files that a file manager creates.
  if (
    !ours &&
    names.some(
      (name) =>
        !['.DS_Store', 'Thumbs.db', 'desktop.ini', 'lost+found', 'System Volume Information'].includes(name),
    )
  ) {
    return failWith('folder_not_ours', `There are other files in ${folder}.`);
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
    return failWith('usage', `There is no PyTorch for GPUs of the kind "${request.gpu}" on ${platform}.`);
  }
  if (request.systemPython !== null && !SUPPORTED_VERSIONS.includes(request.systemPython)) {
    return failWith('usage', `The packages are not made for Python ${request.systemPython}.`);
  }
  const models: InstalledModel[] = [];
  for (const id of request.models) {
    const model = await installedModel(id, paths);
    if (!model.ok) return model;
    models.push(model.value);
  }
  const sizes = await downloadSizes(paths, platform, torch);
  const room = await roomFor(folder, models, sizes);
  if (!room.ok) return room;

  const steps = new Steps(request.onProgress ?? (() => undefined), STEPS);
  steps.begin(message('step.get_installer'));
  const found = findUv(paths);
  const uv = found === undefined ? await fetchOwnUv(paths, { run, env, signal: request.signal }) : ok(found);
  if (!uv.ok) return uv;
  const python = request.systemPython ?? MANAGED_PYTHON;
  const packing: Packing = { ...request, folder, work, run, env, uv: uv.value, python, steps };
  const targetUv = await packUv(packing);
  if (!targetUv.ok) return targetUv;

  steps.begin(message('step.get_python', { version: python }));
  const archive = await packPython(packing);
  if (!archive.ok) return archive;
  const packages = await packPackages(packing, torch, sizes);
  if (!packages.ok) return packages;

  const files = new Map(models.flatMap((model) => model.files).map((file) => [file.path, file]));
  steps.begin(message('step.weights'), { bytes: sum([...files.values()]) });
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
    python: { version: python, packed: request.systemPython === null },
    requirements: await requirementsHash('run', paths),
    models: models.map(({ id, title }) => ({ id, title })),
    files: listed.value,
  };
  writeJson(join(folder, OFFLINE_LIST), manifest);
  return ok({ folder, manifest, bytes: sum(listed.value) });
}

async function roomFor(
  folder: string,
  models: readonly InstalledModel[],
  { packages, torch }: DownloadSizes,
): Promise<Result<void>> {
  const free = await freeBytes(folder);
  const files = new Map(models.flatMap(({ files: each }) => each).map((file) => [file.path, file]));
  const present = await bytesIn(folder);
  const needed = sum([...files.values()]) + (packages ?? 0) + (torch ?? 0) + TOOLS_BYTES - present;
  if (free === null || free >= needed) return ok(undefined);
  return failWith(
    'disk_full',
    `About ${formatBytes(needed)} are needed in ${folder}, and ${formatBytes(free)} are free.`,
    {
      nextStep: 'Free some space, choose another disk, or take fewer models along.',
    },
  );
}

/**
 * Packs the program's own uv if it is the published one, else the one that uv downloads for the other
 * computer.
 */
async function packUv(packing: Packing): Promise<Result<void>> {
  const { folder, platform, uv, paths, run, env, signal } = packing;
  const place = join(folder, PLACES.uv);
  await mkdir(place, { recursive: true });
  // On macOS, the program's own uv may have been signed again together with the program, which changes its
  // bytes.
  if ((await hashFile(uv)) !== UV_KINDS[platform].program) {
    const fetched = await fetchOtherUv(platform, place, { paths, uv, run, env, signal });
    return fetched.ok ? ok(undefined) : fetched;
  }
  const licences = (await readdir(dirname(uv))).filter((name) => name.startsWith('LICENSE'));
  for (const name of licences) await copyFile(join(dirname(uv), name), join(place, name));
  await copyFile(uv, join(place, uvFileName(platform)));
  return ok(undefined);
}

/**
 * Packs the archive of the managed Python. uv checks it by its hash and stores it under a name that starts
 * with that hash.
 */
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
      `cpython-${MANAGED_PYTHON}-${UV_KINDS[platform].python}`,
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
  // If the archive can't be unpacked here, such as one for Windows on Linux, it is enough that it is present.
  if (whole) return ok(undefined);
  const failure = installerFailure(fetched);
  return err({
    ...failure,
    cause: `Python for the other computer could not be fetched. ${failure.cause}`,
    nextStep: `${failure.nextStep} Or pack for a Python that the other computer has (--system-python 3.12).`,
  });
}

/** `known`: the expected checksums of files, by their path in the folder. */
async function checksums(
  { folder, steps, signal }: Packing,
  known: ReadonlyMap<string, string | null>,
): Promise<Result<OfflineFile[]>> {
  const torchLock = await stat(join(folder, PLACES.torchLock)).catch(() => undefined);
  const paths: string[] = torchLock === undefined ? [] : [PLACES.torchLock];
  for (const place of [PLACES.uv, PLACES.python, PLACES.wheels]) {
    const names = await readdir(join(folder, place)).catch(() => []);
    paths.push(...names.map((name) => `${place}/${name}`));
  }
  paths.push(...known.keys());
  steps.begin(message('step.checksums'), { bytes: await bytesIn(folder) });
  const files: OfflineFile[] = [];
  for (const path of paths.sort()) {
    const file = join(folder, path);
    const { size } = await stat(file);
    const sha256 = await hashFile(file, steps.more, signal);
    if ((known.get(path) ?? sha256) !== sha256) {
      await rm(file);
      return failWith('model_damaged', `${basename(path)} is not what its model says it is.`);
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
