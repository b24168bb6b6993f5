import { readFile, stat, writeFile } from 'node:fs/promises';
import { beforeEach, expect, it } from 'vitest';
import { setupSettingsSchema } from '../../contract/rpc/computer.ts';
import { madeSystem } from '../system/testing/madeSystem.ts';
import {
  resolveAppPaths,
  networkVariables,
  readSetupSettings,
  setupFile,
  writeSetupSettings,
} from './appPaths.ts';
import { uvEnvironment } from './install/uv.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

const NOTHING = setupSettingsSchema.parse({});
let home: string;

beforeEach(() => {
  home = temporaryFolder();
});

it('are stored, for this account only, and read again', async () => {
  const settings = { ...NOTHING, proxy: 'http://eva:secret@proxy:3128', dataFolder: '/big/disk' };
  writeSetupSettings(home, settings);
  expect(readSetupSettings(home)).toEqual(settings);
  if (process.platform !== 'win32') expect((await stat(setupFile(home))).mode & 0o777).toBe(0o600);
});

it('are empty if their file is missing or damaged', async () => {
  expect(readSetupSettings(home)).toEqual(NOTHING);
  await writeFile(setupFile(home), '{"proxy": 3');
  expect(readSetupSettings(home)).toEqual(NOTHING);
  expect(await readFile(setupFile(home), 'utf8')).toBe('{"proxy": 3');
});

it('move the data folder, unless one is given for this start', () => {
  const env = { XDG_DATA_HOME: home, HOME: home };
  const usual = resolveAppPaths({ env, system: madeSystem('linux') });
  if (!usual.ok) throw new Error(usual.error.cause);
  writeSetupSettings(usual.value.usualDataDir, { ...NOTHING, dataFolder: '/big/disk' });
  const moved = resolveAppPaths({ env, system: madeSystem('linux') });
  expect(moved).toMatchObject({ ok: true, value: { dataDir: '/big/disk' } });
  const named = resolveAppPaths({
    env: { ...env, VIRNUCPRO_DATA_DIR: '/named' },
    system: madeSystem('linux'),
  });
  expect(named).toMatchObject({ ok: true, value: { dataDir: '/named', usualDataDir: '/named' } });
});

it('apply to pip and uv, and take precedence over the variables of the shell', () => {
  const settings = {
    ...NOTHING,
    proxy: 'http://proxy:3128',
    certificateFile: '/etc/institute.pem',
    packageIndex: 'https://mirror.example/simple',
  };
  const shell = { HTTPS_PROXY: 'http://old:1', PATH: '/usr/bin' };
  const env = networkVariables(settings, shell);
  expect(env).toMatchObject({
    PATH: '/usr/bin',
    HTTPS_PROXY: 'http://proxy:3128',
    https_proxy: 'http://proxy:3128',
    PIP_CERT: '/etc/institute.pem',
    PIP_INDEX_URL: 'https://mirror.example/simple',
  });
  const resolved = resolveAppPaths();
  if (!resolved.ok) throw new Error(resolved.error.cause);
  expect(uvEnvironment(resolved.value, env, 'long')).toMatchObject({
    UV_DEFAULT_INDEX: 'https://mirror.example/simple',
    SSL_CERT_FILE: '/etc/institute.pem',
    HTTPS_PROXY: 'http://proxy:3128',
  });
  expect(networkVariables(NOTHING, shell)).toEqual(shell);
});
