import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AppPaths } from './appPaths.ts';
import { checkEnvironment } from './checkEnvironment.ts';
import { ensureEnvironment } from './ensureEnvironment.ts';
import type { EnvironmentState } from './environmentState.ts';
import { fakePython, type FakeComputer } from './testing/fakePython.ts';

let root: string;
let paths: AppPaths;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'Données β '));
  const pythonBackend = join(root, 'python-backend');
  paths = {
    root,
    pythonBackend,
    pythonSource: join(pythonBackend, 'src'),
    resources: join(root, 'resources'),
    dataDir: join(root, 'data'),
    environmentFolder: join(root, 'data', 'python'),
  };
  await mkdir(pythonBackend);
  await writeFile(join(pythonBackend, 'requirements.txt'), 'torch==2.13.0\n');
  await writeFile(join(pythonBackend, 'requirements-test.txt'), 'pytest==9\n');
});
afterEach(() => rm(root, { recursive: true, force: true }));

const GOOD: FakeComputer = { pythons: { python3: { version: [3, 12, 1] } } };
const INSTALL = ['install pip==26.3', 'install requirements.txt'];

async function ensure(
  computer: FakeComputer,
  request: Partial<Parameters<typeof ensureEnvironment>[0]> = {},
) {
  const states: EnvironmentState[] = [];
  const { run, commands } = fakePython(computer);
  const onState = (state: EnvironmentState) => states.push(state);
  const result = await ensureEnvironment({ paths, env: {}, onState, ...request }, run);
  const names = states.map(({ state }) => state).filter((name, place, all) => name !== all[place - 1]);
  return { result, states, names, commands };
}

describe('from nothing', () => {
  it('creates, installs, verifies, and is quick the second time', async () => {
    const first = await ensure(GOOD);
    expect(first.result).toMatchObject({ ok: true, value: { own: true, pythonVersion: '3.12.1' } });
    expect(first.names).toEqual(['checking', 'creating', 'installing', 'verifying', 'ready']);
    expect(first.commands).toEqual(['check', 'version?', 'venv', ...INSTALL, 'import']);
    expect(first.states).toContainEqual({
      state: 'installing',
      step: 2,
      stepCount: 2,
      title: 'PyTorch and what computing needs',
      line: 'Downloading torch-2.13.0-cp311.whl (500.0 MB)',
      fraction: 0.5,
    });
    const second = await ensure(GOOD);
    expect(second.names).toEqual(['checking', 'ready']);
    expect(second.commands).toEqual(['check']);
    expect(existsSync(`${paths.environmentFolder}.lock`)).toBe(false);
  });

  it('adds what tests need only where it is asked for, and keeps it', async () => {
    await ensure(GOOD);
    const test = await ensure(GOOD, { requirements: 'test' });
    expect(test.commands).toEqual(['check', 'pip?', ...INSTALL, 'install requirements-test.txt', 'import']);
    expect((await ensure(GOOD)).commands).toEqual(['check']);
    expect((await ensure(GOOD, { requirements: 'test' })).commands).toEqual(['check']);
  });
});

describe('which Python', () => {
  it.each<[string, FakeComputer['pythons'], string | RegExp]>([
    ['the first that fits', { python3: { version: [3, 11, 2] } }, '/usr/bin/python3'],
    [
      'not a too old one',
      { python3: { version: [3, 9, 1] }, 'python3.11': { version: [3, 11, 0] } },
      '/usr/bin/python3.11',
    ],
    [
      'a known one before a newer',
      { python3: { version: [3, 15, 0] }, 'python3.13': { version: [3, 13, 0] } },
      '/usr/bin/python3.13',
    ],
    ['a newer one where there is no other', { python3: { version: [3, 15, 0] } }, '/usr/bin/python3'],
  ])('%s', async (_, pythons, expected) => {
    const { states } = await ensure({ pythons });
    expect(states.find((state) => state.state === 'creating')).toMatchObject({
      basePython: expect.stringContaining(`(${expected})`) as string,
    });
  });

  it.each<[string, FakeComputer['pythons'], RegExp]>([
    ['there is none', {}, /no Python was found/],
    [
      'all are too old',
      { python3: { version: [3, 8, 18] }, python: { version: [2, 7, 18] } },
      /only 3\.8\.18, 2\.7\.18/,
    ],
    ['venv is missing', { python3: { version: [3, 12, 3], venv: false } }, /without its venv module/],
  ])('says so when %s', async (_, pythons, cause) => {
    const { result, names } = await ensure({ pythons });
    expect(names.at(-1)).toBe('failed');
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'python_missing', cause: expect.stringMatching(cause) as string },
    });
  });
});

describe('when installing fails', () => {
  it.each([
    ['OSError: [Errno 28] No space left on device', 'disk_full', /room/],
    ['Failed to establish a new connection: NewConnectionError', 'python_broken', /no connection/],
    ['SSLError(SSLCertVerificationError(1, CERTIFICATE_VERIFY_FAILED', 'python_broken', /certificate/],
    [
      'ERROR: No matching distribution found for torch==2.13.0',
      'python_broken',
      /no torch==2\.13\.0 for this/,
    ],
    ['something else', 'python_broken', /failed/],
  ])('%s', async (pipFailure, code, cause) => {
    const { result } = await ensure({ ...GOOD, pipFailure });
    expect(result).toMatchObject({
      ok: false,
      error: {
        code,
        cause: expect.stringMatching(cause) as string,
        detail: expect.stringContaining(pipFailure) as string,
      },
    });
    // And goes on from there, without making the environment anew.
    expect((await ensure(GOOD)).commands).toEqual(['check', 'pip?', ...INSTALL, 'import']);
  });

  it('is interrupted by its signal', async () => {
    const { result } = await ensure(GOOD, { signal: AbortSignal.abort() });
    expect(result.ok).toBe(false);
    expect(existsSync(`${paths.environmentFolder}.lock`)).toBe(false);
  });
});

describe('an environment that is not as it should be', () => {
  beforeEach(() => ensure(GOOD));

  it('is brought to new requirements', async () => {
    await writeFile(join(paths.pythonBackend, 'requirements.txt'), 'torch==2.14.0\n');
    expect((await ensure(GOOD)).commands).toEqual(['check', 'pip?', ...INSTALL, 'import']);
  });

  it('is mended when somebody has changed a package', async () => {
    const changed = { ...GOOD, packages: { torch: '2.13.0', numpy: '1.0.0' } };
    const { run } = fakePython(changed);
    const checked = await checkEnvironment({ paths, env: {} }, false, run);
    expect(checked).toMatchObject({
      ok: false,
      error: { cause: expect.stringContaining('numpy') as string },
    });
    expect((await ensure(changed)).commands).toContain('install requirements.txt');
  });

  it('is made anew when packages are there and yet do not work', async () => {
    await rm(join(paths.environmentFolder, 'virnucpro-environment.json'));
    const { commands, result } = await ensure({ ...GOOD, brokenImports: 1 });
    expect(commands).toEqual([
      'check',
      'pip?',
      ...INSTALL,
      'import',
      'version?',
      'venv',
      ...INSTALL,
      'import',
    ]);
    expect(result.ok).toBe(true);
  });

  it('is given up when even a new one does not work', async () => {
    await rm(join(paths.environmentFolder, 'virnucpro-environment.json'));
    const { result } = await ensure({ ...GOOD, brokenImports: 2 });
    expect(result).toMatchObject({
      ok: false,
      error: { cause: expect.stringContaining('torch cannot be imported') as string },
    });
  });

  it('is made anew on request', async () => {
    const { commands } = await ensure(GOOD, { repair: true });
    expect(commands).toEqual(['version?', 'venv', ...INSTALL, 'import']);
  });

  it('is never mistaken for a folder of something else', async () => {
    await rm(paths.environmentFolder, { recursive: true });
    await mkdir(paths.environmentFolder);
    await writeFile(join(paths.environmentFolder, 'thesis.txt'), 'years of work');
    const { result } = await ensure(GOOD, { repair: true });
    expect(result).toMatchObject({ ok: false, error: { code: 'folder_not_ours' } });
    expect(existsSync(join(paths.environmentFolder, 'thesis.txt'))).toBe(true);
  });
});

it('two at once: one installs, the other waits for it and takes what it made', async () => {
  const outcomes = await Promise.all([ensure(GOOD), ensure(GOOD)]);
  const [waiting, installing] = outcomes.sort((a, b) => a.commands.length - b.commands.length);
  expect(installing.commands).toContain('venv');
  expect(waiting.commands).toEqual(['check', 'check']);
  expect(waiting.names).toEqual(['checking', 'waiting', 'ready']);
});

it('uses an interpreter that the user names, and never installs into it', async () => {
  const good = await ensure(GOOD, { interpreter: '/home/me/own/python' });
  expect(good.result).toMatchObject({ ok: true, value: { own: false, interpreter: '/home/me/own/python' } });
  expect(good.commands).toEqual(['check']);
});
