import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { message } from '../../contract/messages.ts';
import { setupSettingsSchema } from '../../contract/rpc/computer.ts';
import type { AppPaths } from './appPaths.ts';
import { checkEnvironment } from './checkEnvironment.ts';
import { ensureEnvironment } from './ensureEnvironment.ts';
import type { EnvironmentState } from './environmentState.ts';
import { uvFileName } from './install/uvRelease.ts';
import type { Machine } from './machine/machine.ts';
import { networkVariables } from './setupSettings.ts';
import { fakePython, type FakeComputer } from './testing/fakePython.ts';
import { LINUX_MACHINE as MACHINE, windowsEnvironment } from './testing/machines.ts';

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
    usualDataDir: join(root, 'data'),
    environmentFolder: join(root, 'data', 'python'),
  };
  await mkdir(pythonBackend);
  await writeFile(join(pythonBackend, 'requirements.txt'), 'torch==2.13.0\n');
  await writeFile(join(pythonBackend, 'requirements-test.txt'), 'pytest==9\n');
  await writeFile(join(pythonBackend, 'requirements.lock'), LOCK);
  await writeFile(
    join(pythonBackend, 'requirements-test.lock'),
    `${LOCK}pytest==9 \\\n    --hash=sha256:cc\n`,
  );
  await writeFile(join(pythonBackend, 'requirements-ray.txt'), 'ray==2.55\n');
});
afterEach(() => rm(root, { recursive: true, force: true }));

const LOCK =
  'numpy==2.4.6 \\\n    --hash=sha256:aa\nnvidia-cublas==13.1 \\\n    --hash=sha256:dd\n' +
  'nvidia-ml-py==13 \\\n    --hash=sha256:ee\ntorch==2.13.0 \\\n    --hash=sha256:bb\n';

const WITH_GPU: Machine = {
  ...MACHINE,
  nvidiaDriver: '580.65.06',
  nvidia: [{ name: 'NVIDIA H200', capability: [9, 0] }],
};

const GOOD: FakeComputer = { pythons: { python3: { version: [3, 12, 1] } } };
const INSTALL = ['install pip==26.3', 'install torch==2.13.0', 'install requirements.txt'];
/** With the ordinary build of PyTorch, which comes with the rest. */
const INSTALL_ORDINARY = ['install pip==26.3', 'install requirements.txt'];

async function ensure(
  computer: FakeComputer,
  request: Partial<Parameters<typeof ensureEnvironment>[0]> = {},
) {
  const states: EnvironmentState[] = [];
  const { run, commands, calls } = fakePython(computer);
  const onState = (state: EnvironmentState) => states.push(state);
  const result = await ensureEnvironment({ paths, env: {}, machine: MACHINE, onState, ...request }, run);
  const names = states.map(({ state }) => state).filter((name, place, all) => name !== all[place - 1]);
  return { result, states, names, commands, calls };
}

describe('from nothing', () => {
  it('creates, installs, verifies, and is quick the second time', async () => {
    const first = await ensure(GOOD);
    expect(first.result).toMatchObject({ ok: true, value: { own: true, pythonVersion: '3.12.1' } });
    expect(first.names).toEqual(['checking', 'creating', 'installing', 'verifying', 'ready']);
    const counts = first.states.map((state) => ('stepCount' in state ? state.stepCount : null));
    expect(new Set(counts.filter((count) => count !== null))).toEqual(new Set([3]));
    expect(first.commands).toEqual(['check', 'version?', 'venv', ...INSTALL, 'import']);
    expect(first.states).toContainEqual({
      state: 'installing',
      step: 2,
      stepCount: 3,
      title: message('step.pytorch_build', { build: 'cpu' }),
      line: 'Downloading torch-2.13.0-cp311.whl (500.0 MB)',
      fraction: 0.5,
      bytesDone: 250,
      bytesTotal: null,
    });
    const lines = first.states.flatMap((state) => (state.state === 'installing' ? [state.line] : []));
    expect(lines.filter((line) => /install/i.test(line))).toEqual([]);
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

it('adds Ray where it is asked for, keeps it, and renews it with the program', async () => {
  await ensure(GOOD);
  const withRay = await ensure(GOOD, { withRay: true });
  expect(withRay.commands).toEqual(['check', 'pip?', ...INSTALL, 'install requirements-ray.txt', 'import']);
  for (const request of [{}, { withRay: true }])
    expect((await ensure(GOOD, request)).commands).toEqual(['check']);
  await writeFile(join(paths.pythonBackend, 'requirements-ray.txt'), 'ray==2.56\n');
  expect((await ensure(GOOD)).commands).toContain('install requirements-ray.txt');
});

it('finds the Python of a Windows computer, whose search path is called Path', async () => {
  const programsFolder = 'C:\\Windows';
  const inherited = windowsEnvironment({ Path: programsFolder, SystemRoot: programsFolder });
  expect(inherited['PATH']).toBe(programsFolder);
  const pythons = { 'py -3.12': { version: [3, 12, 4] as [number, number, number] } };
  const { result } = await ensure(
    { pythons, programsFolder },
    {
      machine: { ...MACHINE, platform: 'win32' },
      env: networkVariables(setupSettingsSchema.parse({}), inherited),
    },
  );
  expect(result).toMatchObject({ ok: true });
});

describe('when installing fails', () => {
  it.each([
    ['OSError: [Errno 28] No space left on device', 'disk_full', /room/],
    ['Failed to establish a new connection: NewConnectionError', 'network_unreachable', /cannot be reached/],
    ['SSLError(SSLCertVerificationError(1, CERTIFICATE_VERIFY_FAILED', 'network_certificate', /certificate/],
    [
      'ERROR: No matching distribution found for torch==2.13.0',
      'python_broken',
      /no torch==2\.13\.0 for this/,
    ],
    ['something else', 'python_broken', /failed/],
  ])('%s', async (installFailure, code, cause) => {
    const { result } = await ensure({ ...GOOD, installFailure });
    expect(result).toMatchObject({
      ok: false,
      error: {
        code,
        cause: expect.stringMatching(cause) as string,
        detail: expect.stringContaining(installFailure) as string,
      },
    });
    // And goes on from there, without making a new environment.
    expect((await ensure(GOOD)).commands).toEqual(['check', 'pip?', ...INSTALL, 'import']);
  });

  it('is interrupted by its signal', async () => {
    const { result } = await ensure(GOOD, { signal: AbortSignal.abort() });
    expect(result.ok).toBe(false);
    expect(existsSync(`${paths.environmentFolder}.lock`)).toBe(false);
  });
});

describe('which PyTorch', () => {
  it('is the ordinary one, with the other packages, for a new GPU and driver', async () => {
    const { commands } = await ensure(GOOD, { machine: WITH_GPU });
    expect(commands).toEqual(['check', 'version?', 'venv', ...INSTALL_ORDINARY, 'import']);
  });

  it('comes from its own index for an older GPU', async () => {
    const machine: Machine = { ...WITH_GPU, nvidia: [{ name: 'V100', capability: [7, 0] }] };
    const { calls } = await ensure(GOOD, { machine });
    expect(calls.filter((call) => call.includes('/whl/cu126'))).toHaveLength(1);
  });

  it('is the ordinary one for processors, too, where its own index is out of reach, and that is said', async () => {
    const sizes = { packages: 100, torch: 2_000_000_000 };
    await writeFile(join(paths.pythonBackend, 'download-sizes.json'), JSON.stringify({ 'linux-x64': sizes }));
    const cutOff = { ...GOOD, torchIndexFailure: 'NewConnectionError' };
    const { result, states } = await ensure(cutOff);
    expect(result.ok).toBe(true);
    const steps = states.filter((state) => state.state === 'installing' && state.line === '');
    expect(steps).toMatchObject([
      { step: 1 },
      { step: 2, title: message('step.pytorch_build', { build: 'cpu' }), bytesTotal: 192_000_000 },
      { step: 2, title: message('step.pytorch_packages'), bytesTotal: 2_000_000_100 },
      { step: 3 },
    ]);
    const stamp = JSON.parse(await readFile(join(paths.environmentFolder, 'virnucpro-environment.json'), 'utf8')) as object; // prettier-ignore
    expect(stamp).toMatchObject({ torchBuild: 'cu130' });
    const machine: Machine = { ...WITH_GPU, nvidia: [{ name: 'V100', capability: [7, 0] }] };
    const older = await ensure(cutOff, { machine, repair: true });
    expect(older.result).toMatchObject({ ok: false, error: { code: 'network_unreachable' } });
  });

  it('can be the one for the GPUs of other computers, and stays that until this computer counts again', async () => {
    const forProcessors = { ...GOOD, packages: { torch: '2.13.0+cpu' } };
    await ensure(forProcessors);
    // What is there would be taken for the right one: only a new environment has the other.
    const asked = await ensure(forProcessors, { gpu: 'nvidia' });
    expect(asked.commands.filter((command) => command === 'venv')).toHaveLength(1);
    expect(asked.commands.slice(-3)).toEqual([...INSTALL_ORDINARY, 'import']);
    await writeFile(join(paths.pythonBackend, 'requirements.txt'), 'torch==2.13.0\n# changed\n');
    expect((await ensure(GOOD)).commands).toEqual(['check', 'pip?', ...INSTALL_ORDINARY, 'import']);
    expect((await ensure(GOOD, { gpu: 'here' })).commands).toEqual(['pip?', ...INSTALL, 'import']);
    expect((await ensure(GOOD, { gpu: 'apple' })).result).toMatchObject({ error: { code: 'usage' } });
    expect((await ensure(GOOD)).commands).toEqual(['check']);
  });

  it('is none for a computer that cannot compute, and nothing is started or fetched', async () => {
    const machine: Machine = { ...MACHINE, platform: 'darwin' };
    const { result, commands } = await ensure(GOOD, { machine });
    expect(result).toMatchObject({ ok: false, error: { code: 'computer_unsupported' } });
    expect(commands).toEqual(['check']);
  });
});

describe('with uv', () => {
  const UNREACHABLE = 'cause: client error (Connect)\ncause: dns error';
  const NOTHING: FakeComputer = { pythons: {} };
  const WITH_UV = ['install virnucpro-run.lock', 'install torch==2.13.0'];

  beforeEach(async () => {
    await mkdir(join(root, 'uv'));
    await writeFile(join(root, 'uv', uvFileName(process.platform)), '');
  });

  it('needs no Python on the computer, and is quick the second time', async () => {
    const first = await ensure(NOTHING);
    expect(first.commands).toEqual(['check', 'fetch python', 'venv', ...WITH_UV, 'import']);
    expect(first.calls.find((call) => call.includes('venv'))).toContain('--managed-python --python 3.12');
    expect(first.result.ok).toBe(true);
    expect((await ensure(NOTHING)).commands).toEqual(['check']);
  });

  it('installs everything by hash from the lock file, PyTorch of its own index apart', async () => {
    const ordinary = await ensure(NOTHING, { machine: WITH_GPU });
    const installs = ordinary.calls.filter((call) => call.includes('pip install'));
    expect(installs).toHaveLength(2);
    for (const call of installs) expect(call).toMatch(/--compile-bytecode.*--require-hashes/);
    expect(installs[1]).toContain(join(paths.pythonBackend, 'requirements.lock'));
    const filtered = await readFile(join(paths.environmentFolder, 'virnucpro-run.lock'), 'utf8');
    expect(filtered.match(/^\S+==/gm)).toEqual(['numpy==', 'nvidia-ml-py==']);

    const { calls } = await ensure(NOTHING, { repair: true });
    expect(calls.filter((call) => call.includes('--torch-backend cpu'))).toHaveLength(1);
  });

  it('takes the ordinary PyTorch where the one for processors is out of reach', async () => {
    const { commands, result } = await ensure({ ...NOTHING, torchIndexFailure: UNREACHABLE });
    expect(commands.slice(-3)).toEqual(['install torch==2.13.0', 'install requirements.lock', 'import']);
    expect(result.ok).toBe(true);
  });

  it('takes a Python of the computer where none can be fetched', async () => {
    const computer = {
      pythons: { python3: { version: [3, 11, 2], venv: false } },
      managedPythonFailure: UNREACHABLE,
    } satisfies FakeComputer;
    const { commands, calls, result } = await ensure(computer);
    expect(commands).toEqual(['check', 'fetch python', 'version?', 'venv', ...WITH_UV, 'import']);
    expect(calls.find((call) => call.includes(' venv '))).toContain(
      '--no-managed-python --python /usr/bin/python3',
    );
    expect(result.ok).toBe(true);
  });

  it('says that there is no network where there is neither', async () => {
    const { result } = await ensure({ ...NOTHING, managedPythonFailure: UNREACHABLE });
    expect(result).toMatchObject({ ok: false, error: { code: 'network_unreachable' } });
  });

  it('goes on in an environment that was made with pip, and in its own without pip', async () => {
    await ensure(NOTHING);
    await writeFile(join(paths.pythonBackend, 'requirements.lock'), `${LOCK}# changed\n`);
    expect((await ensure(NOTHING)).commands).toEqual(['check', 'starts?', ...WITH_UV, 'import']);
  });

  it('adds what tests need', async () => {
    const { commands } = await ensure(NOTHING, { requirements: 'test' });
    expect(commands.slice(3)).toEqual([...WITH_UV, 'install virnucpro-test.lock', 'import']);
  });
});

describe('an environment that is not as it should be', () => {
  beforeEach(() => ensure(GOOD));

  it('is brought to new requirements', async () => {
    await writeFile(join(paths.pythonBackend, 'requirements.txt'), 'torch==2.14.0\n');
    const install = INSTALL.map((step) => step.replace('2.13.0', '2.14.0'));
    expect((await ensure(GOOD)).commands).toEqual(['check', 'pip?', ...install, 'import']);
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

  it('is made again when packages are there but do not work', async () => {
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

  it('is made again on request', async () => {
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
