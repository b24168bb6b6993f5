import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { madeSystem } from '../system/testing/madeSystem.ts';
import { resolveAppPaths, type AppPathsRequest } from './appPaths.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

let folder: string;
let app: string;

beforeEach(async () => {
  folder = temporaryFolder();
  app = join(folder, 'app');
  await mkdir(join(app, 'python-backend', 'src', 'virnucpro_backend'), { recursive: true });
  await mkdir(join(app, 'resources'));
  await mkdir(join(app, 'dist', 'cli'), { recursive: true });
});

function resolved(request: AppPathsRequest) {
  const paths = resolveAppPaths({ env: { HOME: '/home/me' }, system: madeSystem('linux'), ...request });
  if (!paths.ok) throw new Error(paths.error.cause);
  return paths.value;
}

it.each(['', 'dist', 'dist/cli'])('finds the program from the file in "%s"', (below) => {
  expect(resolved({ startFolder: join(app, below) })).toMatchObject({
    root: app,
    pythonSource: join(app, 'python-backend', 'src'),
    environmentFolder: '/home/me/.local/share/virnucpro-desktop/python',
  });
});

it('keeps the environment of a source checkout beside the Python project', async () => {
  await writeFile(join(app, 'package-lock.json'), '{}');
  expect(resolved({ startFolder: app }).environmentFolder).toBe(join(app, 'python-backend', '.venv'));
});

it('takes a packaged app’s resources, and VIRNUCPRO_HOME before everything', () => {
  expect(resolved({ startFolder: '/', resourcesPath: app }).root).toBe(app);
  expect(resolved({ startFolder: '/', resourcesPath: '/nowhere', env: { VIRNUCPRO_HOME: app } }).root).toBe(
    app,
  );
});

it('names the places it searched', () => {
  const missing = resolveAppPaths({ startFolder: folder, env: {} });
  expect(missing).toMatchObject({ ok: false, error: { cause: expect.stringContaining(folder) as string } });
});
