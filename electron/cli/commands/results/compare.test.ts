import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../engine/testing/temporaryFolder.ts';
import { compare } from './compare.ts';

it('names what stands in the place of the second run, whatever it is', async () => {
  const folder = temporaryFolder();
  const [proteins, table, bytes, empty] = ['proteins.fa', 'table.tsv', 'bytes', 'empty'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  writeFileSync(proteins, '>p\nMKKLLPTAAAGLLL\n');
  writeFileSync(table, 'name\tscore\na\t1\n');
  writeFileSync(bytes, Buffer.from([0, 255, 254, 10]));
  mkdirSync(empty);
  for (const second of [proteins, table, bytes, empty, join(folder, 'missing')])
    await expect(compare('a run', second, {})).rejects.toMatchObject({
      error: { code: 'usage', cause: expect.stringContaining(second) as string },
    });
});
