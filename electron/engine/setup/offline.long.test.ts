/**
 * Packs a folder and sets up a computer from it, with the real uv and Python, and with packages of a few
 * bytes.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import type { StepProgress } from '../../contract/rpc/computer.ts';
import { checkEnvironment } from '../environment/checkEnvironment.ts';
import { runCommand } from '../environment/runCommand.ts';
import { OFFLINE_LIST, OFFLINE_PACKING } from '../../contract/rpc/computer.ts';
import { KIND_HERE } from '../system/here.ts';
import { readOfflineManifest, type OfflineManifest } from './offlineFolder.ts';
import { packOffline, type PackRequest } from './packOffline.ts';
import { setUp } from './setUp.ts';
import { stubInstallation, type StubInstallation } from './testing/stubInstallation.ts';

const made = await stubInstallation();
const skipped = typeof made === 'string' ? made : '';

describe.skipIf(skipped !== '')(`setting up from a folder ${skipped && `(skipped: ${skipped})`}`, () => {
  const stub = made as StubInstallation;
  let folder: string;
  let manifest: OfflineManifest;
  const steps: StepProgress[] = [];

  function pack(change: Partial<PackRequest> = {}, into?: string, run = runCommand) {
    const request: PackRequest = {
      folder: into ?? folder,
      gpu: process.platform === 'darwin' ? 'apple' : process.platform === 'win32' ? 'none' : 'nvidia',
      models: ['300'],
      paths: stub.paths,
      machine: stub.machine,
      appVersion: '1.2.3',
      env: stub.env,
      onProgress: (progress) => steps.push(progress),
      ...change,
    };
    return packOffline(request, run);
  }

  function from(place: string) {
    const { paths, machine, env } = stub;
    return setUp({ paths, machine, env, from: place });
  }

  async function usable() {
    return checkEnvironment({ paths: stub.paths, env: stub.env }, true);
  }

  beforeAll(async () => {
    folder = join(stub.paths.root, 'memory stick');
    const weights = join(stub.paths.dataDir, 'weights', '300');
    await mkdir(weights, { recursive: true });
    await cp(join(stub.paths.resources, 'teaching-model'), weights, { recursive: true });
    ({ manifest } = unwrap(await pack()));
  });
  afterAll(() => stub.remove());
  beforeEach(() => rm(stub.paths.environmentFolder, { recursive: true, force: true }));

  it('lists every file with its size and SHA-256', async () => {
    expect(manifest).toMatchObject({
      appVersion: '1.2.3',
      platform: KIND_HERE,
      python: { version: stub.python, packed: false },
      models: [{ id: '300' }],
    });
    const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(folder.length + 1)
          .replaceAll('\\', '/'),
      );
    expect(manifest.files.map(({ path }) => path).sort()).toEqual(
      names.filter((name) => name !== OFFLINE_LIST).sort(),
    );
    for (const { path, size, sha256 } of manifest.files) {
      const bytes = await readFile(join(folder, path));
      expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([size, sha256]);
    }
    const places = steps.map(({ stepNumber, stepCount }) => `${stepNumber}/${stepCount}`);
    expect([...new Set(places)]).toEqual(['1/6', '2/6', '3/6', '4/6', '5/6', '6/6']);
  });

  it('sets up a computer without a network, including the weights', async () => {
    await rm(join(stub.paths.dataDir, 'weights'), { recursive: true });
    const seen: StepProgress[] = [];
    const { paths, machine } = stub;
    // Nothing listens at this address.
    const env = {
      ...stub.env,
      PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
      HTTPS_PROXY: 'http://127.0.0.1:9',
    };
    const ready = await setUp({ paths, machine, env, from: folder, onProgress: (step) => seen.push(step) });
    expect(ready).toMatchObject({ ok: true, value: { environment: { own: true } } });
    expect(await usable()).toMatchObject({ ok: true, value: { packages: { torch: '1.0' } } });
    const weights = join(paths.dataDir, 'weights', '300');
    for (const { path } of manifest.files.filter((file) => file.path.startsWith('weights/300/'))) {
      const name = path.slice('weights/300/'.length);
      expect(await readFile(join(weights, name))).toEqual(
        await readFile(join(paths.resources, 'teaching-model', name)),
      );
    }
    expect(seen.map(({ stepNumber }) => stepNumber)).toEqual(
      seen.map(({ stepNumber }) => stepNumber).toSorted((a, b) => a - b),
    );
    expect(seen.at(-1)).toMatchObject({ finished: true, error: null, stepNumber: 6, stepCount: 6 });
    // The folder's tools are removed after use.
    expect(await readdir(join(paths.dataDir, 'uv'))).toEqual([]);
  });

  it('continues in a folder where packing was interrupted, and refuses other folders', async () => {
    const other = join(stub.paths.root, 'interrupted');
    const abort = new AbortController();
    const cut = await pack(
      {
        signal: abort.signal,
        onProgress: ({ stepNumber }) => {
          if (stepNumber === 4) abort.abort();
        },
      },
      other,
    );
    expect(cut).toMatchObject({ ok: false });
    expect(await from(other)).toMatchObject({
      ok: false,
      error: { code: 'offline_folder_unusable', cause: expect.stringMatching(/not finished/) as string },
    });
    expect(await pack({}, other)).toMatchObject({ ok: true });
    expect((await readdir(other)).filter((name) => name === OFFLINE_PACKING || name.startsWith('.'))).toEqual(
      [],
    );

    const thesis = join(stub.paths.root, 'thesis');
    await mkdir(thesis);
    await writeFile(join(thesis, 'chapter.txt'), 'years of work');
    expect(await pack({}, thesis)).toMatchObject({ ok: false, error: { code: 'folder_not_ours' } });
  });

  it.each<[string, (place: string) => Promise<unknown>, RegExp]>([
    ['without its list', (place) => rm(join(place, OFFLINE_LIST)), /virnucpro-offline\.json/],
    ['with a list that was cut off', (place) => truncate(join(place, OFFLINE_LIST), 40), /damaged/],
    ['without its packages', (place) => rm(join(place, 'packages.tar.gz')), /packages/],
    [
      'with packages of other bytes',
      async (place) => {
        const file = join(place, 'packages.tar.gz');
        const bytes = await readFile(file);
        bytes.writeUInt8(bytes.readUInt8(50) ^ 1, 50);
        await writeFile(file, bytes);
      },
      /packages.*damaged/,
    ],
    [
      'with a path that leads out of it',
      (place) => changeManifest(place, (list) => ({ ...list, files: [{ ...list.files[0], path: '../x' }] })),
      /damaged/,
    ],
    [
      'for another kind of computer',
      (place) => changeManifest(place, (list) => ({ ...list, platform: 'win32-arm64' })),
      /this computer is/,
    ],
    [
      'of another version',
      (place) => changeManifest(place, (list) => ({ ...list, requirements: 'other' })),
      /1\.2\.3/,
    ],
  ])('a folder %s changes nothing, and the error says what to do', async (_, damage, cause) => {
    const place = join(stub.paths.root, 'damaged');
    await rm(place, { recursive: true, force: true });
    await cp(folder, place, { recursive: true });
    await damage(place);
    const refused = await from(place);
    expect(refused).toMatchObject({
      ok: false,
      error: { code: 'offline_folder_unusable', cause: expect.stringMatching(cause) as string },
    });
    expect(refused.ok ? '' : refused.error.nextStep).not.toBe('');
    expect((await usable()).ok).toBe(false);
  });

  it("includes uv's archive of Python", async () => {
    const place = join(stub.paths.root, 'with python');
    const { archive, downloads } = await fakeManagedPython(stub);
    stub.extra.set('cpython.tar.gz', archive);
    const env = {
      ...stub.env,
      UV_PYTHON_INSTALL_MIRROR: undefined,
      UV_PYTHON_DOWNLOADS_JSON_URL: downloads,
    };
    // This Python does not run, so the environment is made with the one of this computer.
    expect(await pack({ models: [], env }, place)).toMatchObject({
      ok: true,
      value: { manifest: { python: { version: stub.python, packed: false } } },
    });
    const { stdout } = await execa('tar', ['-tzf', './packages.tar.gz'], { cwd: place });
    expect(stdout).toMatch(/^\.\/pythons\/.*cpython\.tar\.gz$/m);
  });

  it.skipIf(process.platform === 'darwin')(
    'includes a PyTorch from another index, which this computer would not take for itself',
    async () => {
      const place = join(stub.paths.root, 'older GPUs');
      // PyTorch's own index is not used: the package index of these tests answers in its place.
      const run: typeof runCommand = (command) =>
        runCommand({
          ...command,
          args: command.args.filter(
            (arg, i, all) => arg !== '--torch-backend' && all[i - 1] !== '--torch-backend',
          ),
        });
      const { paths, machine, env } = stub;
      const packed = await pack({ gpu: 'nvidia_older', models: [] }, place, run);
      expect(packed).toMatchObject({ ok: true });
      await stub.disconnect();
      const ready = await setUp({ paths, machine, env, from: place }, run);
      expect(ready).toMatchObject({ ok: true });
    },
  );
});

async function changeManifest(place: string, change: (list: OfflineManifest) => unknown): Promise<void> {
  const list = unwrap(await readOfflineManifest(place));
  await writeFile(join(place, OFFLINE_LIST), JSON.stringify(change(list)));
}

/**
 * Makes an archive of the kind that uv downloads, without a Python that runs, and the list that directs uv to
 * it.
 */
async function fakeManagedPython(stub: StubInstallation): Promise<{ archive: Buffer; downloads: string }> {
  const root = join(stub.paths.root, 'fake python');
  const library = join(root, 'python', 'lib', 'python3.12');
  await mkdir(join(root, 'python', 'bin'), { recursive: true });
  await mkdir(library, { recursive: true });
  await writeFile(join(root, 'python', 'bin', 'python3.12'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  await writeFile(join(library, '_sysconfigdata__linux_x86_64-linux-gnu.py'), 'build_time_vars = {}\n');
  await execa('tar', ['-czf', 'cpython.tar.gz', 'python'], { cwd: root });
  const archive = await readFile(join(root, 'cpython.tar.gz'));
  const [os, arch] = process.platform === 'darwin' ? ['darwin', 'aarch64'] : ['linux', 'x86_64'];
  const libc = os === 'linux' ? 'gnu' : 'none';
  const downloads = join(root, 'downloads.json');
  const entry = {
    name: 'cpython',
    arch: { family: process.arch === 'arm64' ? 'aarch64' : arch, variant: null },
    os,
    libc,
    major: 3,
    minor: 12,
    patch: 16,
    prerelease: '',
    url: `${stub.address}/cpython.tar.gz`,
    sha256: createHash('sha256').update(archive).digest('hex'),
    variant: null,
    build: '20261110',
  };
  await writeFile(
    downloads,
    JSON.stringify({ [`cpython-3.12.16-${os}-${entry.arch.family}-${libc}`]: entry }),
  );
  return { archive, downloads };
}
