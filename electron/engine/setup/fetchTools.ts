/** The tools that pack a folder: a pip to download with, a uv for this computer, and the uv that goes into the folder. */
import { chmod, copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { appError } from '../../contract/errors.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import type { OfflinePlatform } from '../../contract/rpc/computer.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { installFailure } from '../environment/install/installFailure.ts';
import { pipInstall } from '../environment/install/pipInstall.ts';
import { findUv, uvEnvironment } from '../environment/install/uv.ts';
import { UV_VERSION, UV_WHEELS, uvFileName } from '../environment/install/uvRelease.ts';
import type { InstallProgress } from '../environment/environmentState.ts';
import { scrubbedEnvironment, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { hashFile } from '../files/hashFile.ts';
import { KIND_HERE } from '../system/here.ts';
import type { CommandRunner } from '../environment/runCommand.ts';

export interface ToolsRequest {
  readonly paths: AppPaths;
  readonly environment: PythonEnvironment;
  readonly env: NodeJS.ProcessEnv;
  readonly run: CommandRunner;
  readonly signal?: AbortSignal | undefined;
  /** For what is needed while packing only. */
  readonly work: string;
}

/** Downloads with pip: arguments as of `pip download`. */
export type Download = (
  args: readonly string[],
  onProgress: (progress: InstallProgress) => void,
) => Promise<Result<void>>;

const PIP = 'pip==26.3';

export async function downloader(request: ToolsRequest): Promise<Result<Download>> {
  const { environment, env, run, signal } = request;
  const pipFolder = await findPip(request);
  if (!pipFolder.ok) return pipFolder;
  return ok((args, onProgress) =>
    pipInstall(run, {
      command: 'download',
      interpreter: environment.interpreter,
      pipFolder: pipFolder.value,
      arguments: args,
      reportsProgress: true,
      env,
      signal,
      onProgress,
    }),
  );
}

/** Undefined where the interpreter has pip; an environment that uv has made doesn't. */
async function findPip(request: ToolsRequest): Promise<Result<string | undefined>> {
  const { paths, environment, env, run, signal, work } = request;
  const asked = await run({
    file: environment.interpreter,
    args: ['-m', 'pip', '--version'],
    env: scrubbedEnvironment(env),
    signal,
  });
  if (asked.ending === 'succeeded') return ok(undefined);
  const uv = findUv(paths);
  if (uv === undefined) {
    return err(
      appError('python_missing', `${environment.interpreter} has no pip, which fetches the packages.`, {
        nextStep: 'Choose a Python with pip under Settings or with --python, then start again.',
      }),
    );
  }
  const folder = join(work, 'pip');
  const fetched = await run({
    file: uv,
    args: ['pip', 'install', '--python', environment.interpreter, '--target', folder, PIP],
    env: uvEnvironment(paths, env, 'short'),
    signal,
  });
  return fetched.ending === 'succeeded' ? ok(join(folder, 'pip')) : err(installFailure(fetched));
}

/** Puts uv for a kind of computer, with its licences, into a folder; answers with its file. */
export async function putUv(
  request: ToolsRequest,
  download: Download,
  platform: OfflinePlatform,
  folder: string,
): Promise<Result<string>> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, uvFileName(platform));
  const here = platform === KIND_HERE ? findUv(request.paths) : undefined;
  // On macOS the program's own may have been signed again with the program, which changes its bytes.
  if (here !== undefined && (await hashFile(here)) === UV_WHEELS[platform].program) {
    const source = dirname(here);
    const licences = (await readdir(source)).filter((name) => name.startsWith('LICENSE'));
    for (const name of licences) await copyFile(join(source, name), join(folder, name));
    await copyFile(here, file);
  } else {
    const unpacked = await fetchWheel(request, download, platform);
    if (!unpacked.ok) return unpacked;
    const licences = join(unpacked.value, `uv-${UV_VERSION}.dist-info`, 'licenses');
    for (const name of await readdir(licences)) await copyFile(join(licences, name), join(folder, name));
    await copyFile(join(unpacked.value, `uv-${UV_VERSION}.data`, 'scripts', uvFileName(platform)), file);
  }
  await chmod(file, 0o755);
  return ok(file);
}

async function fetchWheel(
  { run, environment, env, work, signal }: ToolsRequest,
  download: Download,
  platform: OfflinePlatform,
): Promise<Result<string>> {
  const wheel = UV_WHEELS[platform];
  const folder = join(work, `uv-${platform}`);
  await mkdir(folder, { recursive: true });
  const requirement = join(folder, 'uv.txt');
  await writeFile(requirement, `uv==${UV_VERSION} --hash=sha256:${wheel.sha256}\n`);
  const fetched = await download(
    [
      '--no-deps',
      '--only-binary=:all:',
      '--require-hashes',
      '--platform',
      wheel.platform,
      '--dest',
      folder,
      '-r',
      requirement,
    ],
    () => undefined,
  );
  if (!fetched.ok) return fetched;
  const file = (await readdir(folder)).find((name) => name.endsWith('.whl')) ?? '';
  // A wheel is a ZIP archive.
  const unpacked = join(folder, 'wheel');
  const outcome = await run({
    file: environment.interpreter,
    args: ['-I', '-m', 'zipfile', '-e', join(folder, file), unpacked],
    env: scrubbedEnvironment(env),
    signal,
  });
  return outcome.ending === 'succeeded' ? ok(unpacked) : err(installFailure(outcome));
}
