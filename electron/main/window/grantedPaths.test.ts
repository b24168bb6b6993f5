import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { GrantedPaths } from './grantedPaths.ts';
import { temporaryFolder } from '../../engine/testing/temporaryFolder.ts';

let folder: string;
beforeAll(async () => {
  folder = temporaryFolder();
  await mkdir(join(folder, 'given', 'below'), { recursive: true });
  await symlink(join(folder), join(folder, 'given', 'escape'));
});

describe('GrantedPaths', () => {
  it('allows what the user gave and what is below it, with links resolved', async () => {
    const paths = new GrantedPaths();
    paths.add([join(folder, 'given')]);
    expect(await paths.allows(join(folder, 'given'))).toBe(true);
    expect(await paths.allows(join(folder, 'given', 'below', 'new.fa'))).toBe(true);
    expect(await paths.allows(join(folder, 'given', '..', 'other.fa'))).toBe(false);
    expect(await paths.allows(join(folder, 'given', 'escape', 'other.fa'))).toBe(false);
    expect(await paths.allows(join(folder, 'given-too'))).toBe(false);
  });

  it('confirms what it was given, and refuses everything else', async () => {
    const paths = new GrantedPaths();
    paths.add([join(folder, 'given')]);
    expect((await paths.confirm([join(folder, 'given')])).ok).toBe(true);
    expect(await paths.confirm(['/etc/passwd'])).toMatchObject({
      ok: false,
      error: { code: 'input_unreadable' },
    });
  });
});
