/**
 * Breaks an environment in every way that a set-up claims to repair: each attempt ends with a usable
 * environment, or with an error that names a next step. Uses the real Python and uv, with packages of a few
 * bytes.
 */
import { execaSync } from 'execa';
import { cp, mkdir, readdir, readFile, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MessageKey } from '../../contract/messages.ts';
import { HERE } from '../system/here.ts';
import { checkEnvironment } from '../environment/checkEnvironment.ts';
import { ensureEnvironment, type EnvironmentRequest } from '../environment/ensureEnvironment.ts';
import { Steps } from '../environment/steps.ts';
import { stubInstallation, type StubInstallation } from './testing/stubInstallation.ts';

const made = await stubInstallation();
const skipped = typeof made === 'string' ? made : '';
const UNFINISHED = /not been set up to its end/;

describe.skipIf(skipped !== '')(`a set-up repairs ${skipped && `(skipped: ${skipped})`}`, () => {
  const stub = made as StubInstallation;
  let whole: string;
  let folder: string;

  const ensure = (more: Partial<EnvironmentRequest> = {}) => {
    const { paths, machine, env } = stub;
    return ensureEnvironment({ paths, machine, env, ...more });
  };
  const check = () => checkEnvironment({ paths: stub.paths, env: stub.env }, true);

  beforeAll(async () => {
    folder = stub.paths.environmentFolder;
    const first = await ensure();
    if (!first.ok) throw new Error(`${first.error.cause}\n${first.error.detail ?? ''}`);
    whole = join(stub.paths.root, 'whole');
    await cp(folder, whole, { recursive: true, verbatimSymlinks: true });
  });
  afterAll(() => stub.remove());
  beforeEach(async () => {
    await rm(folder, { recursive: true, force: true });
    await cp(whole, folder, { recursive: true, verbatimSymlinks: true });
  });

  it.each<[string, RegExp, (site: string) => Promise<unknown>]>([
    ['no environment at all', /cannot be started/, () => rm(folder, { recursive: true })],
    ['a missing interpreter', /cannot be started/, () => rm(HERE.interpreterIn(folder))],
    [
      'a dangling link to a Python that is gone',
      /cannot be started/,
      async () => {
        await rm(HERE.interpreterIn(folder));
        await symlink(join(folder, 'gone', 'python3.9'), HERE.interpreterIn(folder));
      },
    ],
    ['a missing package', /torch is not installed/, (site) => rm(join(site, 'torch'), { recursive: true })],
    [
      'a package without its files',
      /numpy is not installed/,
      (site) => rm(join(site, 'numpy', '__init__.py')),
    ],
    [
      'a package that was half installed',
      /torch cannot be imported: SyntaxError/,
      async (site) => {
        await rm(join(site, 'torch-1.0.dist-info', 'RECORD'));
        await truncate(join(site, 'torch', '__init__.py'), 12);
      },
    ],
    [
      'a package of zeros',
      /torch cannot be imported/,
      (site) => writeFile(join(site, 'torch', '__init__.py'), Buffer.alloc(64)),
    ],
    [
      'another version of PyTorch',
      /changed the packages.*torch/,
      async (site) => {
        await cp(join(site, 'torch-1.0.dist-info'), join(site, 'torch-0.9.dist-info'), { recursive: true });
        await rm(join(site, 'torch-1.0.dist-info'), { recursive: true });
        const file = join(site, 'torch-0.9.dist-info', 'METADATA');
        await writeFile(file, (await readFile(file, 'utf8')).replace('1.0', '0.9'));
      },
    ],
    ['an installation that was cut off', UNFINISHED, () => rm(join(folder, 'virnucpro-environment.json'))],
    ['a record that was cut off', UNFINISHED, () => truncate(join(folder, 'virnucpro-environment.json'), 20)],
    [
      'a lock that a dead process left, of nonsense',
      UNFINISHED,
      async () => {
        await rm(join(folder, 'virnucpro-environment.json'));
        await writeFile(`${folder}.lock`, '\u0000\u0000nonsense');
        const longAgo = new Date(Date.now() - 3_600_000);
        await utimes(`${folder}.lock`, longAgo, longAgo);
      },
    ],
    [
      'a cache of damaged downloads',
      /cannot be started/,
      async () => {
        await rm(folder, { recursive: true });
        await mkdir(join(stub.paths.dataDir, 'uv', 'cache', 'archive-v0'), { recursive: true });
        await writeFile(join(stub.paths.dataDir, 'uv', 'cache', 'archive-v0', 'x'), 'nonsense');
      },
    ],
  ])('%s', async (_, cause, damage) => {
    expect((await check()).ok).toBe(true);
    await damage(await sitePackages(folder));
    expect(await check()).toMatchObject({
      ok: false,
      error: { code: 'python_broken', cause: expect.stringMatching(cause) as string },
    });
    // The quick check at every start finds most problems; the repair of the computer check fixes those that
    // it can't see.
    const repaired = (await ensure()).ok && (await check()).ok;
    if (!repaired) expect(await ensure({ repair: true })).toMatchObject({ ok: true });
    expect(await check()).toMatchObject({ ok: true, value: { packages: { torch: '1.0' } } });
  });

  it.each<[string, MessageKey]>([
    ['the environment is made', 'step.python'],
    ['the packages are installed', 'step.pytorch_packages'],
    ['the packages are checked', 'step.verifying'],
  ])('an installation that is interrupted while %s', async (_, step) => {
    await rm(folder, { recursive: true });
    const abort = new AbortController();
    const cut = await ensure({
      signal: abort.signal,
      steps: new Steps(({ wording }) => {
        if (wording?.key === step) abort.abort();
      }),
    });
    expect(cut).toMatchObject({ ok: false });
    expect(cut.ok ? '' : cut.error.nextStep).not.toBe('');
    expect(await ensure()).toMatchObject({ ok: true });
    expect((await check()).ok).toBe(true);
  });

  it('says what to do if its own lock file is damaged', async () => {
    const file = join(stub.paths.pythonBackend, 'requirements.lock');
    const lock = await readFile(file, 'utf8');
    await writeFile(file, lock.replaceAll(/sha256:\w{6}/g, 'sha256:000000'));
    const failed = await ensure({ repair: true });
    await writeFile(file, lock);
    expect(failed).toMatchObject({ ok: false, error: { cause: expect.stringMatching(/\w/) as string } });
    expect(failed.ok ? '' : failed.error.nextStep).toMatch(/start again/);
    expect(await ensure()).toMatchObject({ ok: true });
  });

  const disk = smallDisk();
  it.skipIf(disk === null)('reports a full or read-only disk, and what to do', async () => {
    if (disk === null) return;
    const place = join(stub.paths.root, 'disk');
    await mkdir(place);
    disk.mount(place, '100k');
    try {
      const paths = { ...stub.paths, dataDir: place, environmentFolder: join(place, 'python') };
      await writeFile(join(place, 'filler'), Buffer.alloc(60_000));
      const full = await ensure({ paths });
      expect(full).toMatchObject({ ok: false, error: { code: 'disk_full' } });
      disk.makeReadOnly(place);
      const forbidden = await ensure({ paths });
      expect(forbidden).toMatchObject({
        ok: false,
        error: { code: 'folder_unwritable', nextStep: expect.stringMatching(/Settings/) as string },
      });
    } finally {
      disk.unmount(place);
    }
  });
});

/** Returns null if this user may not mount a disk. */
function smallDisk() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/bin/mount')) return null;
  const probe = execaSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { reject: false });
  if (probe.failed) return null;
  return {
    mount: (place: string, size: string) =>
      execaSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'none', place]),
    makeReadOnly: (place: string) => execaSync('mount', ['-o', 'remount,ro', place]),
    unmount: (place: string) => execaSync('umount', ['-l', place], { reject: false }),
  };
}

async function sitePackages(folder: string): Promise<string> {
  if (process.platform === 'win32') return join(folder, 'Lib', 'site-packages');
  const [version = ''] = await readdir(join(folder, 'lib'));
  return join(folder, 'lib', version, 'site-packages');
}
