import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { latestShellLog, ShellLog, shellLogFile } from './diagnostics.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';

let dataDir: string;
beforeAll(() => {
  dataDir = temporaryFolder();
});

it('keeps each entry on one line, and the previous file when one has grown large', async () => {
  expect(await latestShellLog({ dataDir })).toEqual([]);
  const file = shellLogFile({ dataDir });
  new ShellLog(file).write('error', 'Error: no GPU\n    at somewhere\n');
  expect(await latestShellLog({ dataDir })).toEqual([
    expect.stringMatching(/^\d{4}-.*Z error Error: no GPU \| at somewhere$/),
  ]);

  await writeFile(file, `${'x'.repeat(600 * 1024)}\nthe last of the old\n`);
  new ShellLog(file).write('info', 'the first of the new');
  expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toHaveLength(1);
  expect((await latestShellLog({ dataDir })).slice(-2)).toEqual([
    'the last of the old',
    expect.stringMatching(/info the first of the new$/),
  ]);
});

it('does no harm if it cannot be written', async () => {
  const blocked = join(dataDir, 'a file');
  await writeFile(blocked, '');
  const log = new ShellLog(join(blocked, 'logs', 'shell.log'));
  expect(() => log.write('info', 'nowhere')).not.toThrow();
});
