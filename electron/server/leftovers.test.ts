import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeLeftovers } from './uploads.ts';
import { temporaryFolder } from '../engine/testing/temporaryFolder.ts';

it('removes old uploads that no run needs, and nothing else', async () => {
  const folder = temporaryFolder();
  const old = new Date(Date.now() - 48 * 60 * 60_000);
  for (const name of ['old', 'old but needed', 'young']) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'a.fa'), '>a\nACGT\n');
    if (name !== 'young') await utimes(join(folder, name), old, old);
  }
  await removeLeftovers(folder, [join(folder, 'old but needed', 'a.fa')]);
  expect((await readdir(folder)).sort()).toEqual(['old but needed', 'young']);
  await removeLeftovers(join(folder, 'none'), []);
});
