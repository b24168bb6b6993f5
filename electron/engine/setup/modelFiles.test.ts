import { expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import { putModel } from '../models/testing/putModel.ts';
import { APP_PATHS } from '../testing/realFiles.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';
import { installedModel } from './modelFiles.ts';

it('includes the notes of shared encoders, without which another model would download them again', async () => {
  const paths = { ...APP_PATHS, dataDir: temporaryFolder() };
  await putModel('mine', paths);
  const { files } = unwrap(await installedModel('mine', paths));
  const taken = files.map(({ path }) => path);
  expect(taken.filter((path) => path.startsWith('shared/')).sort()).toEqual([
    'shared/dnabert_s-bb.json',
    'shared/dnabert_s-bb.safetensors',
    'shared/esm2-aa.json',
    'shared/esm2-aa.safetensors',
  ]);
  expect(taken).toContain('mine/model.json');
});
