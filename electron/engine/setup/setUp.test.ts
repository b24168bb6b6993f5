import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import type { AppPaths } from '../environment/appPaths.ts';
import { uvFileName } from '../environment/install/uv.ts';
import { fakePython } from '../environment/testing/fakePython.ts';
import { LINUX_MACHINE } from '../environment/testing/machines.ts';
import { setUp } from './setUp.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

let root: string;
let paths: AppPaths;

beforeEach(async () => {
  root = temporaryFolder();
  const pythonBackend = join(root, 'python-backend');
  const dataDir = join(root, 'data');
  paths = {
    root,
    pythonBackend,
    pythonSource: join(pythonBackend, 'src'),
    resources: join(root, 'resources'),
    dataDir,
    usualDataDir: dataDir,
    environmentFolder: join(dataDir, 'python'),
  };
  await mkdir(pythonBackend);
  await writeFile(join(pythonBackend, 'requirements.txt'), 'torch==2.13.0\n');
  await writeFile(join(pythonBackend, 'requirements.lock'), 'torch==2.13.0 --hash=sha256:aa\n');
  await mkdir(join(root, 'uv'));
  await writeFile(join(root, 'uv', uvFileName(process.platform)), '');
});

it.each([
  ['2.13.0+cpu', []],
  // A mirror may serve this build under the same name.
  ['2.13.0', [expect.stringMatching(/\(cu130\).*\(cpu\)/)]],
  ['2.13.0+cu126', [expect.stringMatching(/\(cu126\).*\(cpu\).*--repair/)]],
])('reports that the installed PyTorch is not the chosen one: %s', async (torch, expected) => {
  const { run } = fakePython({ packages: { torch } });
  const { remarks } = unwrap(await setUp({ paths, machine: LINUX_MACHINE, env: {} }, run));
  expect(remarks.filter((remark) => remark.includes('PyTorch'))).toEqual(expected);
});
