import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { message } from '../../contract/messages.ts';
import { type StepProgress, setupSettingsSchema } from '../../contract/rpc/computer.ts';
import { type AppPaths, networkVariables } from './appPaths.ts';
import { ensureEnvironment } from './ensureEnvironment.ts';
import { fetchedUvFolder, uvFileName } from './install/uv.ts';
import type { Machine } from './machine.ts';
import { Steps } from './steps.ts';
import { fakePython, installedProgram, type FakeComputer } from './testing/fakePython.ts';
import { LINUX_MACHINE as MACHINE, windowsEnvironment } from './testing/machines.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

let root: string;
let paths: AppPaths;

const LOCK =
  'numpy==2.4.6 \\\n    --hash=sha256:aa\nnvidia-cublas==13.1 \\\n    --hash=sha256:dd\n' +
  'nvidia-ml-py==13 \\\n    --hash=sha256:ee\ntorch==2.13.0 \\\n    --hash=sha256:bb\n';

beforeEach(async () => {
  root = temporaryFolder();
  paths = installedProgram(root, {
    'requirements.txt': 'torch==2.13.0\n',
    'requirements.lock': LOCK,
    'requirements-test.lock': `${LOCK}pytest==9 \\\n    --hash=sha256:cc\n`,
  });
  await writeFile(join(root, 'uv', uvFileName(process.platform)), '');
});

const WITH_GPU: Machine = {
  ...MACHINE,
  nvidiaDriver: '580.65.06',
  nvidia: [{ name: 'NVIDIA H200', capability: [9, 0] }],
};

const UNREACHABLE = 'cause: client error (Connect)\ncause: dns error';
const GOOD: FakeComputer = {};
const CREATE = ['fetch python', 'venv'];
const INSTALL = ['install virnucpro-run.lock', 'install torch==2.13.0'];
/** The ordinary build of PyTorch is installed together with the other packages. */
const INSTALL_ORDINARY = ['install requirements.lock'];

async function ensure(
  computer: FakeComputer,
  request: Partial<Parameters<typeof ensureEnvironment>[0]> = {},
) {
  const progress: StepProgress[] = [];
  const { run, commands, calls, environments } = fakePython(computer);
  const steps = new Steps((step) => progress.push(step));
  const result = await ensureEnvironment({ paths, env: {}, machine: MACHINE, steps, ...request }, run);
  const titles = progress.map(({ step }) => step).filter((step, place, all) => step !== all[place - 1]);
  return { result, progress, titles, commands, calls, environments };
}

const titleOf = (name: Parameters<typeof message>[0], values = {}) => message(name, values as never).text;

describe('from nothing', () => {
  it('needs no Python on the computer, and is quick the second time', async () => {
    const first = await ensure(GOOD);
    expect(first.result).toMatchObject({ ok: true, value: { own: true, pythonVersion: '3.12.1' } });
    expect(first.commands).toEqual(['check', ...CREATE, ...INSTALL, 'import']);
    expect(first.calls.find((call) => call.includes(' venv '))).toContain('--managed-python --python 3.12');
    expect(first.titles).toEqual([
      titleOf('step.python'),
      titleOf('step.packages'),
      titleOf('step.pytorch_build', { build: 'cpu' }),
      titleOf('step.verifying'),
    ]);
    expect(new Set(first.progress.map(({ stepCount }) => stepCount))).toEqual(new Set([4]));
    expect(first.progress.at(-1)).toMatchObject({ stepNumber: 4 });
    expect(first.progress).toContainEqual(
      expect.objectContaining({ stepNumber: 3, fraction: 0.25, bytes: { done: 2 ** 20, total: 2 ** 22 } }),
    );
    const second = await ensure(GOOD);
    expect(second.progress).toEqual([]);
    expect(second.commands).toEqual(['check']);
    expect(existsSync(`${paths.environmentFolder}.lock`)).toBe(false);
  });

  it('installs everything by hash from the lock file, except a PyTorch from its own index', async () => {
    const ordinary = await ensure(GOOD, { machine: WITH_GPU });
    const installs = ordinary.calls.filter((call) => call.includes('pip install'));
    expect(installs).toHaveLength(1);
    expect(installs[0]).toMatch(/--compile-bytecode.*--require-hashes/);
    expect(installs[0]).toContain(join(paths.pythonBackend, 'requirements.lock'));

    let withoutTorch = '';
    const { run } = fakePython(GOOD);
    const calls: string[] = [];
    const request = { paths, env: {}, machine: MACHINE, repair: true };
    const again = await ensureEnvironment(request, async (command) => {
      const call = command.args.join(' ');
      if (call.includes('pip install')) calls.push(call);
      const file = command.args.find((arg) => arg.endsWith('virnucpro-run.lock'));
      if (file !== undefined) withoutTorch = await readFile(file, 'utf8');
      return run(command);
    });
    expect(again.ok).toBe(true);
    expect(calls[0]).toContain('--require-hashes');
    expect(calls[1]).toMatch(/--torch-backend cpu --constraints \S.*virnucpro-run\.lock torch==2\.13\.0$/);
    expect(withoutTorch.match(/^\S+==/gm)).toEqual(['numpy==', 'nvidia-ml-py==']);
    // Downloads are not left behind.
    expect(existsSync(join(paths.dataDir, 'uv', 'cache'))).toBe(false);
  });

  it('uses a Python of the computer if none can be downloaded, or if one is named', async () => {
    const computer = { systemPython: '/usr/bin/python3', managedPythonFailure: UNREACHABLE };
    const { commands, calls, result } = await ensure(computer);
    expect(commands).toEqual(['check', 'fetch python', 'find python', 'venv', ...INSTALL, 'import']);
    const own = '--no-managed-python --python /usr/bin/python3';
    expect(calls.find((call) => call.includes(' venv '))).toContain(own);
    expect(result.ok).toBe(true);

    const named = await ensure(computer, { repair: true, env: { UV_PYTHON: '3.10' } });
    expect(named.commands.slice(0, 2)).toEqual(['find python', 'venv']);
    expect(named.calls[0]).toMatch(/--system 3\.10$/);
  });

  it.each<[string, FakeComputer, object]>([
    ['no network and no Python', { managedPythonFailure: UNREACHABLE }, { code: 'network_unreachable' }],
    ['no Python at all', { managedPythonFailure: 'unsupported' }, { code: 'python_missing' }],
    [
      'only a Python of the Microsoft Store',
      {
        managedPythonFailure: 'unsupported',
        systemPython: String.raw`C:\Users\eva\AppData\Local\Microsoft\WindowsApps\Python.3.12_qbz5\python.exe`,
      },
      { code: 'python_missing' },
    ],
  ])('reports when there is %s', async (_, computer, error) => {
    const { result, commands } = await ensure(computer);
    expect(result).toMatchObject({ ok: false, error });
    expect(commands).not.toContain('venv');
  });

  it('adds the test packages only on request, and keeps them', async () => {
    await ensure(GOOD);
    const test = await ensure(GOOD, { requirements: 'test' });
    expect(test.commands).toEqual(['check', 'starts?', ...INSTALL, 'install virnucpro-test.lock', 'import']);
    expect((await ensure(GOOD)).commands).toEqual(['check']);
    expect((await ensure(GOOD, { requirements: 'test' })).commands).toEqual(['check']);
  });

  it('keeps the search path of a Windows computer, whose variable is called Path', async () => {
    const inherited = windowsEnvironment({ Path: 'C:\\Windows', SystemRoot: 'C:\\Windows' });
    const { environments } = await ensure(
      { systemPython: 'C:\\Python312\\python.exe' },
      {
        machine: { ...MACHINE, platform: 'win32' },
        env: networkVariables(setupSettingsSchema.parse({}), inherited),
      },
    );
    for (const env of environments) {
      const paths = Object.entries(env).filter(([name]) => /^path$/i.test(name));
      expect(paths.map(([, value]) => value)).toEqual(['C:\\Windows']);
    }
  });
});

describe('a checkout without uv', () => {
  beforeEach(() => rm(join(root, 'uv'), { recursive: true }));

  it('downloads it with a pip, and uses only the published one', async () => {
    const { commands, result } = await ensure({ pip: true });
    expect(commands).toEqual(['check', 'pip?', 'fetch uv']);
    expect(result).toMatchObject({ ok: false, error: { code: 'python_broken' } });
    expect(existsSync(fetchedUvFolder(root, `${process.platform}-${process.arch}`))).toBe(false);
  });

  it('names what to install if there is no pip either', async () => {
    expect((await ensure(GOOD)).result).toMatchObject({ ok: false, error: { code: 'python_missing' } });
  });
});

describe('when installing fails', () => {
  it.each([
    ['OSError: [Errno 28] No space left on device', 'disk_full'],
    ['cause: tcp connect error', 'network_unreachable'],
    ['invalid peer certificate: UnknownIssuer', 'network_certificate'],
    ['HTTP status client error (403 Forbidden)', 'network_blocked'],
    ['tunnel error: unsuccessful', 'network_proxy'],
    ['Because torch==2.13.0 has no wheels with a matching platform tag', 'python_broken'],
    ['something else', 'python_broken'],
  ])('%s', async (installFailure, code) => {
    const { result } = await ensure({ ...GOOD, installFailure });
    expect(result).toMatchObject({
      ok: false,
      error: { code, detail: expect.stringContaining(installFailure) as string },
    });
    // The next attempt continues from there, without creating a new environment.
    expect((await ensure(GOOD)).commands).toEqual(['check', 'starts?', ...INSTALL, 'import']);
  });
});

describe('which PyTorch', () => {
  it('comes from its own index for an older GPU', async () => {
    const machine: Machine = { ...WITH_GPU, nvidia: [{ name: 'V100', capability: [7, 0] }] };
    const { calls } = await ensure(GOOD, { machine });
    expect(calls.filter((call) => call.includes('--torch-backend cu126'))).toHaveLength(1);
  });

  it('is the ordinary one for processors too if its own index is unreachable, and this is reported', async () => {
    const sizes = { packages: 100, torch: 2_000_000_000 };
    await writeFile(join(paths.pythonBackend, 'download-sizes.json'), JSON.stringify({ 'linux-x64': sizes }));
    const cutOff = { ...GOOD, torchIndexFailure: UNREACHABLE };
    const { result, commands, progress } = await ensure(cutOff);
    expect(result.ok).toBe(true);
    expect(commands.slice(-3)).toEqual(['install torch==2.13.0', 'install requirements.lock', 'import']);
    const begun = progress.filter(({ bytes, line }) => line === '' && bytes?.done === 0);
    const at = (step: string, total: number) => ({
      stepNumber: 3,
      stepCount: 4,
      step,
      bytes: { done: 0, total },
    });
    expect(begun).toMatchObject([
      { stepNumber: 2, bytes: { total: 100 } },
      at(titleOf('step.pytorch_build', { build: 'cpu' }), 192_000_000),
      at(titleOf('step.pytorch'), 2_000_000_000),
    ]);
    const stamp = JSON.parse(await readFile(join(paths.environmentFolder, 'virnucpro-environment.json'), 'utf8')) as object; // prettier-ignore
    expect(stamp).toMatchObject({ torchBuild: 'cu130' });
    const machine: Machine = { ...WITH_GPU, nvidia: [{ name: 'V100', capability: [7, 0] }] };
    const older = await ensure(cutOff, { machine, repair: true });
    expect(older.result).toMatchObject({ ok: false, error: { code: 'network_unreachable' } });
  });

  it('comes from a folder of wheels that the user keeps, if it contains one', async () => {
    const env = { PIP_FIND_LINKS: '/srv/wheels' };
    const there = await ensure(GOOD, { env });
    expect(there.calls.filter((call) => call.includes('--torch-backend'))).toHaveLength(1);
    expect(there.calls.find((call) => call.includes('--torch-backend'))).toContain('--no-index');
    expect(there.environments.some(({ UV_FIND_LINKS: folder }) => folder === '/srv/wheels')).toBe(true);
    const absent = await ensure(
      { ...GOOD, torchIndexFailure: 'no version of torch==2.13.0' },
      { env, repair: true },
    );
    expect(absent.calls.filter((call) => call.includes('--torch-backend'))).toHaveLength(2);
    expect(absent.result.ok).toBe(false);
  });

  it('can be the one for the GPUs of other computers, and stays so until this computer is selected again', async () => {
    const forProcessors = { ...GOOD, packages: { torch: '2.13.0+cpu' } };
    await ensure(forProcessors);
    // uv would accept the build that is installed: only a new environment gets the other one.
    const asked = await ensure(forProcessors, { gpu: 'nvidia' });
    expect(asked.commands.filter((command) => command === 'venv')).toHaveLength(1);
    expect(asked.commands.slice(-2)).toEqual([...INSTALL_ORDINARY, 'import']);
    await writeFile(join(paths.pythonBackend, 'requirements.lock'), `${LOCK}# changed\n`);
    expect((await ensure(GOOD)).commands).toEqual(['check', 'starts?', ...INSTALL_ORDINARY, 'import']);
    expect((await ensure(GOOD, { gpu: 'here' })).commands).toEqual(['starts?', ...INSTALL, 'import']);
    expect((await ensure(GOOD, { gpu: 'apple' })).result).toMatchObject({ error: { code: 'usage' } });
    expect((await ensure(GOOD)).commands).toEqual(['check']);
  });

  it('is none for a computer that cannot compute, and nothing is started or downloaded', async () => {
    const machine: Machine = { ...MACHINE, platform: 'darwin' };
    const { result, commands } = await ensure(GOOD, { machine });
    expect(result).toMatchObject({ ok: false, error: { code: 'computer_unsupported' } });
    expect(commands).toEqual(['check']);
  });
});

describe('an incomplete or broken environment', () => {
  beforeEach(() => ensure(GOOD));

  it('is updated to new requirements', async () => {
    await writeFile(join(paths.pythonBackend, 'requirements.lock'), `${LOCK}# changed\n`);
    expect((await ensure(GOOD)).commands).toEqual(['check', 'starts?', ...INSTALL, 'import']);
  });

  it('is created again if packages are present but do not work', async () => {
    await rm(join(paths.environmentFolder, 'virnucpro-environment.json'));
    const { commands, result } = await ensure({ ...GOOD, brokenImports: 1 });
    expect(commands).toEqual(['check', 'starts?', ...INSTALL, 'import', ...CREATE, ...INSTALL, 'import']);
    expect(result.ok).toBe(true);
  });

  it('is given up if even a new one does not work', async () => {
    await rm(join(paths.environmentFolder, 'virnucpro-environment.json'));
    const { result } = await ensure({ ...GOOD, brokenImports: 2 });
    expect(result).toMatchObject({
      ok: false,
      error: { cause: expect.stringContaining('torch cannot be imported') as string },
    });
  });

  it('is created again on request', async () => {
    const { commands } = await ensure(GOOD, { repair: true });
    expect(commands).toEqual([...CREATE, ...INSTALL, 'import']);
  });

  it('is never confused with a folder of other content', async () => {
    await rm(paths.environmentFolder, { recursive: true });
    await mkdir(paths.environmentFolder);
    await writeFile(join(paths.environmentFolder, 'thesis.txt'), 'years of work');
    const { result } = await ensure(GOOD, { repair: true });
    expect(result).toMatchObject({ ok: false, error: { code: 'folder_not_ours' } });
    expect(existsSync(join(paths.environmentFolder, 'thesis.txt'))).toBe(true);
  });
});

it('two at once: one installs, the other waits for it and uses the result', async () => {
  const outcomes = await Promise.all([ensure(GOOD), ensure(GOOD)]);
  const [waiting, installing] = outcomes.sort((a, b) => a.commands.length - b.commands.length);
  expect(installing.commands).toContain('venv');
  expect(waiting.commands).toEqual(['check', 'check']);
  expect(waiting.titles).toEqual([titleOf('step.waiting')]);
});

it('uses an interpreter that the user names, and never installs into it', async () => {
  const good = await ensure(GOOD, { interpreter: '/home/me/own/python' });
  expect(good.result).toMatchObject({ ok: true, value: { own: false, interpreter: '/home/me/own/python' } });
  expect(good.commands).toEqual(['check']);
});
