import { closeSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deleteInRun, makeFolderInRun, openNew, openPlain, pathInRun } from './runFiles.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';
/** Windows describes a junction as a link, not as a folder. */
const junctionAt = (junction: string) => (path: string) => ({
  isSymbolicLink: () => path === junction,
  isDirectory: () => path !== junction,
  isFile: () => false,
});

describe('a path below a run folder', () => {
  it.each(['../x', 'work/../../x', '/etc/passwd', 'work//x', 'C:/x', 'logs/x:y', 'work\\x', '.', ''])(
    'is not %s',
    (name) => {
      expect(() => pathInRun('/run', name)).toThrow('cannot be in it');
    },
  );

  it('does not lead through a junction at any level', () => {
    const name = 'work/parts/000000.safetensors';
    for (const junction of ['work', 'work/parts'])
      expect(() => pathInRun('/run', name, junctionAt(join('/run', junction)))).toThrow('is a link');
    expect(pathInRun('/run', name, junctionAt('/elsewhere'))).toBe(join('/run', name));
    expect(() => openPlain('/run/x', 'append', junctionAt('/run/x'))).toThrow('is a link');
  });
});

it('creates folders in a run, but not in a place from which the run was moved away', () => {
  const folder = temporaryFolder();
  makeFolderInRun(folder, 'work/parts');
  makeFolderInRun(folder, 'work/parts');
  expect(existsSync(join(folder, 'work', 'parts'))).toBe(true);
  const gone = join(folder, 'gone');
  expect(() => makeFolderInRun(gone, 'logs')).toThrow('ENOENT');
  expect(existsSync(gone)).toBe(false);
});

describe.skipIf(process.platform === 'win32')('a link in a run folder', () => {
  it('is replaced by a new file, its target is never deleted, and no folder is created behind it', () => {
    const [folder, outside] = [temporaryFolder(), temporaryFolder()];
    mkdirSync(join(outside, 'parts'));
    const secret = join(outside, 'secret');
    writeFileSync(secret, 'mine');
    symlinkSync(secret, join(folder, 'chunks.tsv.tmp'));
    symlinkSync(outside, join(folder, 'work'));

    closeSync(openNew(join(folder, 'chunks.tsv.tmp')));
    expect(() => makeFolderInRun(folder, 'work/scores')).toThrow('is a link');
    deleteInRun(folder, 'work/parts');
    expect(readFileSync(secret, 'utf8')).toBe('mine');
    expect(() => makeFolderInRun(outside, 'parts')).not.toThrow();
  });
});
