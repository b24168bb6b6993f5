import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { unpack } from './npmPackage.ts';
import { temporaryFolder } from '../../electron/engine/testing/temporaryFolder.ts';

it.skipIf(process.platform === 'win32')('reads archives whose path is one of Windows', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'package'));
  writeFileSync(join(folder, 'package', 'a.txt'), 'kept');
  // Elsewhere this is a file with an odd name, which tar would take for one on the computer C.
  const archive = join(folder, 'C:\\Users\\me\\x.tgz');
  await execa('tar', ['-czf', `./${basename(archive)}`, 'package'], { cwd: folder });
  rmSync(join(folder, 'package'), { recursive: true });
  await unpack(archive);
  expect(readFileSync(join(folder, 'package', 'a.txt'), 'utf8')).toBe('kept');
});
