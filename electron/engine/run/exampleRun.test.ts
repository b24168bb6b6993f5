import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { APP_PATHS } from '../testing/realFiles.ts';
import { temporaryFolder } from '../testing/testContext.ts';
import { exampleRequest } from './exampleRun.ts';

it('reads a copy of the sample, so that it can be resumed after the program was moved', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const { inputs } = await exampleRequest({ ...APP_PATHS, dataDir }, join(dataDir, 'example'));
  expect(inputs).toEqual([join(dataDir, 'example.fa')]);
  expect(await readFile(join(dataDir, 'example.fa'))).toEqual(
    await readFile(join(APP_PATHS.resources, 'example.fa')),
  );
});
