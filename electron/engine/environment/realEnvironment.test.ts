/**
 * Checks the environment that the tests themselves run with, with the real interpreter, and damaged
 * environments beside it.
 */
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import { resolveAppPaths, type AppPaths } from './appPaths.ts';
import { checkEnvironment } from './checkEnvironment.ts';
import { pythonLaunch } from './pythonLaunch.ts';
import { runCommand } from './runCommand.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

let paths: AppPaths;
let folder: string;

beforeAll(() => {
  paths = unwrap(resolveAppPaths());
  folder = temporaryFolder();
});

it('works: every package can be imported', async () => {
  const checked = await checkEnvironment({ paths, requirements: 'test' }, true);
  expect(checked).toMatchObject({
    ok: true,
    value: { own: true, packages: { torch: expect.any(String) as string } },
  });
});

it('is not misled by files in the current folder', async () => {
  const checked = unwrap(await checkEnvironment({ paths }, false));
  const decoy = join(folder, 'decoy');
  await mkdir(join(decoy, 'virnucpro_backend'), { recursive: true });
  const launch = pythonLaunch(checked, 'virnucpro_backend.environment_check');
  const outcome = await runCommand({ ...launch, cwd: decoy });
  expect(outcome.ending).toBe('succeeded');
});

it('reports what is wrong with a damaged one', async () => {
  // An environment of the same interpreter without its packages, as after an interrupted installation.
  const damaged = join(folder, 'damaged');
  await mkdir(join(damaged, 'bin'), { recursive: true });
  for (const file of ['pyvenv.cfg', 'virnucpro-environment.json']) {
    await cp(join(paths.environmentFolder, file), join(damaged, file));
  }
  await symlink(join(paths.environmentFolder, 'bin', 'python'), join(damaged, 'bin', 'python'));
  const checked = await checkEnvironment({ paths: { ...paths, environmentFolder: damaged } }, false);
  expect(checked).toMatchObject({
    ok: false,
    error: { code: 'python_broken', cause: expect.stringContaining('torch is not installed') as string },
  });
});

it('distinguishes an interpreter that is missing from one that exists', async () => {
  const checked = await checkEnvironment({ paths, interpreter: join(folder, 'no', 'python') }, false);
  expect(checked).toMatchObject({
    ok: false,
    error: {
      cause: expect.stringContaining('cannot be started') as string,
      nextStep: expect.stringContaining('--python') as string,
    },
  });
});
