import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../electron/engine/testing/temporaryFolder.ts';

const root = join(import.meta.dirname, '..');

it('times a whole predict and prints its figures', async () => {
  const work = temporaryFolder();
  const { stdout } = await execa(
    'npm',
    [
      ...['run', '--silent', 'bench', '--', 'predict', '--from', 'resources/example.fa', '--work', work],
      ...[
        '--model',
        'resources/teaching-model',
        '--workloads',
        'reads',
        '--reads',
        '200',
        '--devices',
        'cpu',
      ],
    ],
    { cwd: root },
  );
  expect(stdout).toMatch(/200 sequences.*\n.*start to first tokens +\d+\.\d s.*\n/);
  expect(stdout).toMatch(/whole command +\d+\.\d s/);
});
