import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../contract/rpc/runs.ts';
import type { RunEvent } from '../../store/types.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
import { diagnosticsText, latestShellLog, redact, ShellLog, shellLogFile } from './diagnostics.ts';

const plan = {
  inputs: [
    { path: '/disk/patients/gut.fa', sizeBytes: 9 },
    { path: '/disk/patients/gut.fa.old', sizeBytes: 1 },
  ],
  model: { name: 'teaching' },
  precision: 'fp32',
  imported: { folder: '/disk/patients/earlier' },
};
const summary = {
  plan,
  folder: '/disk/patients/gut_predictions',
  createdAt: '2026-11-01T12:00:00Z',
  state: { phase: 'done' },
} as unknown as RunSummary;
const warning = (message: string) => ({ time: 0, level: 'warning', code: 'x', message }) as RunEvent;

it('contains no file names of the user, neither inputs, nor files left out of a run, nor those of earlier runs', () => {
  const troubles = [
    warning('gut.fa.old: Sequences with lower-case letters: 1.'),
    warning('/disk/patients/empty.fa is left out of the run: empty.fa holds no sequences.'),
    warning('Embeddings were taken over from /disk/patients/earlier.'),
    warning('viral_sequences.fna could not be written into /disk/patients/gut_predictions.'),
  ];
  const text = diagnosticsText({
    appVersion: '1.2.3',
    shell: 'terminal',
    dataDir: '/data',
    environment: null,
    probe: null,
    checks: [],
    runs: [{ summary, troubles, leftOut: ['/disk/patients/empty.fa'] }],
    shellLog: ['opened /disk/patients/gut.fa'],
  });
  expect(text).not.toMatch(/patients|gut|empty/);
  expect(text).toContain('<input 2>: Sequences with lower-case letters');
  expect(text).toContain('<left out 1> is left out of the run: <left out 1> holds no sequences.');
  expect(text).toContain('from <earlier run>.');
  expect(text).toContain('into <run folder>.');
  expect(text).toContain('opened <input 1>');
});

describe('redact', () => {
  const facts = { homeFolder: '/home/mschmidt', userName: 'mschmidt', hostName: 'lab-gpu7' };

  it.each([
    ['/home/mschmidt/data/a.fa', '~/data/a.fa'],
    ['"/home/mschmidt"', '"~"'],
    ['/home/other/data', '/home/<user>/data'],
    ['/Users/Jane Doe/x', '/Users/<user> Doe/x'],
    ['C:\\Users\\eva\\AppData', 'C:\\Users\\<user>\\AppData'],
    ['run by MSchmidt on LAB-GPU7', 'run by <user> on <host>'],
    ['lab-gpu70 stays', 'lab-gpu70 stays'],
  ])('%s -> %s', (text, expected) => {
    expect(redact(text, facts)).toBe(expected);
  });

  it('leaves words alone that merely contain a very short user name', () => {
    expect(redact('an ordinary sentence', { homeFolder: '/root', userName: 'an', hostName: '' })).toBe(
      'an ordinary sentence',
    );
  });
});

it('the log of the shell keeps each entry on one line, and the previous file when one has grown large', async () => {
  const dataDir = temporaryFolder();
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

it('the log of the shell does no harm if it cannot be written', async () => {
  const blocked = join(temporaryFolder(), 'a file');
  await writeFile(blocked, '');
  const log = new ShellLog(join(blocked, 'logs', 'shell.log'));
  expect(() => log.write('info', 'nowhere')).not.toThrow();
});
