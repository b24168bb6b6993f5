import { readFile, stat, writeFile } from 'node:fs/promises';
import { beforeEach, expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
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
import { APP_PATHS } from '../testing/realFiles.ts';
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
  const resolved = (more: NodeJS.ProcessEnv = {}) =>
    unwrap(resolveAppPaths({ env: { XDG_DATA_HOME: home, ...more }, system: madeSystem('linux') }));
  const { usualDataDir } = resolved();
  writeSetupSettings(usualDataDir, { ...NOTHING, dataFolder: '/big/disk' });
  expect(resolved()).toMatchObject({ dataDir: '/big/disk', usualDataDir });
  const named = { dataDir: '/named', usualDataDir: '/named' };
  expect(resolved({ VIRNUCPRO_DATA_DIR: '/named' })).toMatchObject(named);
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
  expect(uvEnvironment(APP_PATHS, env, 'long')).toMatchObject({
    UV_DEFAULT_INDEX: 'https://mirror.example/simple',
    SSL_CERT_FILE: '/etc/institute.pem',
    HTTPS_PROXY: 'http://proxy:3128',
  });
  expect(networkVariables(NOTHING, shell)).toEqual(shell);
});
