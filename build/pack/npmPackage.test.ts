import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packBeside, unpack } from './npmPackage.ts';

it.skipIf(process.platform === 'win32')(
  'reads and writes archives whose path is one of Windows',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'archive '));
    mkdirSync(join(folder, 'package'));
    writeFileSync(join(folder, 'package', 'a.txt'), 'kept');
    // Elsewhere this is a file with an odd name, which tar would take for one on the computer C.
    const archive = join(folder, 'C:\\Users\\me\\x.tgz');
    await packBeside(archive, 'package');
    rmSync(join(folder, 'package'), { recursive: true });
    await unpack(archive);
    expect(readFileSync(join(folder, 'package', 'a.txt'), 'utf8')).toBe('kept');
    rmSync(folder, { recursive: true });
  },
);
