/**
 * Packs a folder with the real packages, then sets up a computer without any route from it and runs the
 * example. Takes minutes and about 2 GB of disk, so it needs VIRNUCPRO_OFFLINE_TEST=1;
 * electron/engine/setup/offline.long.test.ts does the same with packages of a few bytes.
 */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';
import { expect, it } from 'vitest';
import { fetchedUvFolder } from '../engine/environment/install/uv.ts';
import { KIND_HERE } from '../engine/system/here.ts';
import { temporaryFolder } from '../engine/testing/temporaryFolder.ts';

const root = join(import.meta.dirname, '..', '..');
const program = [process.execPath, join(root, 'electron', 'cli', 'main.ts')] as const;

const skipped =
  process.env['VIRNUCPRO_OFFLINE_TEST'] !== '1'
    ? 'VIRNUCPRO_OFFLINE_TEST is not 1'
    : execaSync('unshare', ['-rn', 'true'], { reject: false }).failed
      ? 'this computer lets nobody make a network namespace'
      : '';

it.skipIf(skipped !== '')(
  `a computer without any route is set up from a folder and runs the example ${skipped && `(skipped: ${skipped})`}`,
  async () => {
    const work = temporaryFolder();
    const folder = join(work, 'memory stick');
    const packed = await execa(program[0], [
      program[1],
      'pack-offline',
      folder,
      '--gpu',
      'none',
      '--models',
      'none',
    ]);
    expect(packed.stdout).toMatch(/files for/);
    // This is an installed program, not a checkout: its environment is in its own data folder.
    const home = join(work, 'app');
    await execa('mkdir', [home]);
    for (const name of ['python-backend', 'resources']) await symlink(join(root, name), join(home, name));
    await symlink(fetchedUvFolder(root, KIND_HERE), join(home, 'uv'));
    const env = { VIRNUCPRO_HOME: home, VIRNUCPRO_DATA_DIR: join(work, 'data') };
    const offline = (...args: string[]) => execa('unshare', ['-rn', ...program, ...args], { env, all: true });
    expect((await offline('setup', '--from', folder)).stdout).toMatch(
      /all results agree.*\nPython .* is ready/,
    );
    await offline('example', '-o', join(work, 'results'));
  },
  1_800_000,
);
