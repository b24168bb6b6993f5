import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleCommandLine } from '../bundleCommandLine.ts';
import { NODE_VERSION } from './fetchNode.ts';

const SERVERS = readFile(join(import.meta.dirname, '..', '..', 'docs', 'servers.md'), 'utf8');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'server '));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('an older Node prints what is needed, instead of failing at unknown syntax', async () => {
  const outFolder = join(folder, 'too new');
  await bundleCommandLine(outFolder, `${process.platform}-${process.arch}`, '999.0');
  const started = await execa(process.execPath, [join(outFolder, 'virnucpro.mjs'), '--version'], {
    reject: false,
  });
  expect(started.exitCode).toBe(1);
  expect(started.stdout).toBe('');
  expect(started.stderr).toContain('999.0');
  expect(started.stderr).toContain(process.versions.node);
});

it('the Node for other computers has the version of a checkout', async () => {
  const lock = JSON.parse(
    await readFile(join(import.meta.dirname, '..', '..', 'package-lock.json'), 'utf8'),
  ) as {
    packages: Record<string, { version: string }>;
  };
  expect(NODE_VERSION).toBe(lock.packages['node_modules/node']?.version);
});

it('systemd accepts the unit in docs/servers.md', async ({ skip }) => {
  const unit = /```ini\n([^]*?)```/.exec(await SERVERS)?.[1] ?? '';
  expect(unit).toContain('ExecStart=/usr/local/bin/virnucpro serve');
  // The program is found by its path, but the Node in its first line is not.
  expect(unit).toMatch(/^Environment=PATH=/m);
  const file = join(folder, 'virnucpro.service');
  // systemd-analyze checks that the program exists.
  await writeFile(file, unit.replace('/usr/local/bin/virnucpro', process.execPath));
  const verified = await execa('systemd-analyze', ['verify', '--user', file], {
    env: { XDG_RUNTIME_DIR: folder },
    reject: false,
    all: true,
  });
  if (verified.code === 'ENOENT') skip('there is no systemd-analyze here');
  // It also exits with 0 if it ignores unknown settings.
  expect(verified.all).toBe('');
});
