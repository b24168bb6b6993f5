/**
 * Packs a folder and sets up a computer from it, with the real uv and Python, and with packages of a few
 * bytes.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StepProgress } from '../../contract/rpc/computer.ts';
import { checkEnvironment } from '../environment/checkEnvironment.ts';
import { knownKind, uvFileName } from '../environment/install/uv.ts';
import { scrubbedEnvironment } from '../environment/pythonLaunch.ts';
import { lockEntry } from '../environment/requirements.ts';
import { runCommand } from '../environment/runCommand.ts';
import { OFFLINE_LIST, OFFLINE_PACKING } from '../../contract/rpc/computer.ts';
import { hashFile } from '../system/hashFile.ts';
import { readOfflineManifest, type OfflineManifest } from './offlineFolder.ts';
import { packOffline } from './packOffline.ts';
import type { PackRequest } from './packPackages.ts';
import { setUp } from './setUp.ts';
import { stubInstallation, type StubInstallation } from './testing/stubInstallation.ts';

const made = await stubInstallation();
const here = knownKind();
const skipped = typeof made === 'string' ? made : here === null ? 'no folder is made for this computer' : '';

describe.skipIf(skipped !== '')(`setting up from a folder ${skipped && `(skipped: ${skipped})`}`, () => {
  const stub = made as StubInstallation;
  let folder: string;
  let manifest: OfflineManifest;
  const steps: StepProgress[] = [];

  function pack(change: Partial<PackRequest> = {}, into?: string, run = runCommand) {
    const request: PackRequest = {
      folder: into ?? folder,
      platform: here ?? 'linux-x64',
      gpu: process.platform === 'darwin' ? 'apple' : process.platform === 'win32' ? 'none' : 'nvidia',
      models: ['300'],
      systemPython: stub.python,
      paths: stub.paths,
      environment: stub.host,
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
    const packed = await pack();
    if (!packed.ok) throw new Error(`${packed.error.cause}\n${packed.error.detail ?? ''}`);
    manifest = packed.value.manifest;
  });
  afterAll(() => stub.remove());
  beforeEach(() => rm(stub.paths.environmentFolder, { recursive: true, force: true }));

  it('lists every file with its size and SHA-256', async () => {
    expect(manifest).toMatchObject({
      appVersion: '1.2.3',
      platform: here,
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
    ['without a wheel', (place) => rm(join(place, 'wheels', 'numpy-1.0-py3-none-any.whl')), /numpy-1.0/],
    [
      'with a wheel of other bytes',
      async (place) => {
        const file = join(place, 'wheels', 'torch-1.0-py3-none-any.whl');
        const bytes = await readFile(file);
        bytes.writeUInt8(bytes.readUInt8(50) ^ 1, 50);
        await writeFile(file, bytes);
      },
      /torch-1\.0.*damaged/,
    ],
    [
      'with a path that leads out of it',
      (place) => changeManifest(place, (list) => ({ ...list, files: [{ ...list.files[0], path: '../x' }] })),
      /damaged/,
    ],
    [
      'for another kind of computer',
      (place) =>
        changeManifest(place, (list) => ({
          ...list,
          platform: here === 'win32-x64' ? 'linux-x64' : 'win32-x64',
        })),
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

  describe('whose files were replaced by others, with a list that matches them,', () => {
    let place: string;
    let withoutUv: StubInstallation['paths'];
    let env: NodeJS.ProcessEnv;
    const started = (): boolean => existsSync(join(stub.paths.root, 'started'));

    beforeEach(async () => {
      place = join(stub.paths.root, 'exchanged');
      await rm(place, { recursive: true, force: true });
      await cp(folder, place, { recursive: true });
      withoutUv = { ...stub.paths, root: join(stub.paths.root, 'no tools') };
      env = { ...stub.env, PIP_INDEX_URL: 'http://127.0.0.1:9/simple' };
    });
    const exchange = async (path: string, bytes: Buffer): Promise<void> => {
      await writeFile(join(place, path), bytes);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      await changeManifest(place, (list) => ({
        ...list,
        files: list.files.map((file) => (file.path === path ? { path, size: bytes.length, sha256 } : file)),
      }));
    };

    it('is not trusted for uv, which runs only if it is the published one', async () => {
      const { machine } = stub;
      const ready = await setUp({ paths: withoutUv, machine, env, from: place });
      expect(ready).toMatchObject({ ok: true });
      await rm(stub.paths.environmentFolder, { recursive: true });
      const script = `#!/bin/sh\ntouch '${join(stub.paths.root, 'started')}'\n`;
      await exchange(`uv/${uvFileName(here ?? '')}`, Buffer.from(script));
      expect(await setUp({ paths: withoutUv, machine, env, from: place })).toMatchObject({
        ok: false,
        error: { code: 'offline_folder_unusable' },
      });
      expect(started()).toBe(false);
    });

    it('still provides a PyTorch that is only on its own index', async () => {
      const [ordinary, special] = ['', '+cu126'].map((local) => `torch-1.0${local}-py3-none-any.whl`);
      const made = await runCommand({
        file: stub.host.interpreter,
        args: [
          '-I',
          '-c',
          MAKE_SPECIAL,
          ...[ordinary, special].map((name) => join(place, 'wheels', name ?? '')),
        ],
        env: scrubbedEnvironment(process.env),
      });
      expect(made).toMatchObject({ ending: 'succeeded' });
      await rm(join(place, 'wheels', ordinary ?? ''));
      const entry = async (release: string, wheel: string) =>
        lockEntry(release, [await hashFile(join(place, 'wheels', wheel))]);
      await writeFile(
        join(place, 'pytorch.lock'),
        (await entry('torch==1.0+cu126', special ?? '')) +
          (await entry('triton==1.0', 'triton-1.0-py3-none-any.whl')),
      );
      await changeManifest(place, (list) => ({
        ...list,
        torchBuild: 'cu126',
        files: list.files.filter(({ path }) => !path.includes('torch-')),
      }));
      const ready = await from(place);
      expect(ready).toMatchObject({ ok: true, value: { environment: { packages: { torch: '1.0+cu126' } } } });
    });

    it('installs no package that the program does not know', async () => {
      const path = 'wheels/torch-1.0-py3-none-any.whl';
      const add = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "a").writestr("torch/more.py", "")';
      const changed = await runCommand({
        file: stub.host.interpreter,
        args: ['-I', '-c', add, join(place, path)],
        env: scrubbedEnvironment(process.env),
      });
      expect(changed.ending).toBe('succeeded');
      const bytes = await readFile(join(place, path));
      await exchange(path, bytes);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      await writeFile(join(place, 'pytorch.lock'), lockEntry('torch==1.0', [sha256]));
      expect(await from(place)).toMatchObject({ ok: false, error: { code: 'python_broken' } });
      expect((await usable()).ok).toBe(false);
    });
  });

  it('includes a managed Python, checked by its hash, and unpacks it without a network', async () => {
    const place = join(stub.paths.root, 'with python');
    const { archive, downloads } = await fakeManagedPython(stub);
    stub.extra.set('cpython.tar.gz', archive);
    const env = {
      ...stub.env,
      UV_PYTHON_INSTALL_MIRROR: undefined,
      UV_PYTHON_DOWNLOADS_JSON_URL: downloads,
    };
    const packed = await pack({ systemPython: null, models: [], env }, place);
    expect(packed).toMatchObject({
      ok: true,
      value: { manifest: { python: { version: '3.12', packed: true } } },
    });
    const [file = ''] = await readdir(join(place, 'python'));
    expect(await readFile(join(place, 'python', file))).toEqual(archive);
    stub.extra.delete('cpython.tar.gz');
    // This Python does not run, but it is unpacked where the environment would be created with it.
    const { paths, machine } = stub;
    expect(await setUp({ paths, machine, env, from: place })).toMatchObject({ ok: false });
    const unpacked = await readdir(join(paths.dataDir, 'uv', 'python'));
    expect(unpacked.some((name) => name.startsWith('cpython-3.12'))).toBe(true);

    // An archive that is not on uv's list is not unpacked either, whatever the folder's list contains.
    await rm(join(paths.dataDir, 'uv'), { recursive: true });
    const other = gzipSync(
      Buffer.from(gunzipSync(archive).toString('latin1').replace('exit 1', 'exit 2'), 'latin1'),
    );
    await writeFile(join(place, 'python', file), other);
    const sha256 = createHash('sha256').update(other).digest('hex');
    await changeManifest(place, (list) => ({
      ...list,
      files: list.files.map((each) =>
        each.path === `python/${file}` ? { ...each, size: other.length, sha256 } : each,
      ),
    }));
    expect(await setUp({ paths, machine, env, from: place })).toMatchObject({ ok: false });
    const arrived = await readdir(join(paths.dataDir, 'uv', 'python')).catch(() => []);
    expect(arrived.filter((name) => name.startsWith('cpython'))).toEqual([]);
  });

  it.skipIf(process.platform === 'darwin')(
    'includes the packages that a PyTorch from another index shares with the ordinary one',
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
      const packed = await pack({ gpu: 'nvidia_older', models: [] }, place, run);
      expect(packed).toMatchObject({ ok: true, value: { manifest: { torchBuild: 'cu126' } } });
      expect(await readdir(join(place, 'wheels'))).toContain('triton-1.0-py3-none-any.whl');
      expect(await from(place)).toMatchObject({ ok: true });
    },
  );

  it('reports that no Python can be downloaded, and what to do', async () => {
    const packed = await pack({ systemPython: null }, join(stub.paths.root, 'without python'));
    expect(packed).toMatchObject({
      ok: false,
      error: {
        cause: expect.stringMatching(/Python for the other computer/) as string,
        nextStep: expect.stringMatching(/--system-python/) as string,
      },
    });
  });
});

/** Makes the wheel of another build from the ordinary one. */
const MAKE_SPECIAL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as ordinary, zipfile.ZipFile(sys.argv[2], "w") as special:
    for name in ordinary.namelist():
        text = ordinary.read(name).decode().replace("Version: 1.0\\n", "Version: 1.0+cu126\\n")
        info = ("torch-1.0.dist-info", "torch-1.0+cu126.dist-info")
        special.writestr(name.replace(*info), text.replace(*info) if name.endswith("RECORD") else text)
`;

async function changeManifest(place: string, change: (list: OfflineManifest) => unknown): Promise<void> {
  const read = await readOfflineManifest(place);
  if (!read.ok) throw new Error(read.error.cause);
  await writeFile(join(place, OFFLINE_LIST), JSON.stringify(change(read.value)));
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
  const packed = await runCommand({
    file: 'tar',
    args: ['-czf', join(root, 'cpython.tar.gz'), '-C', root, 'python'],
    env: scrubbedEnvironment(process.env),
  });
  if (packed.ending !== 'succeeded') throw new Error(packed.stderr);
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
