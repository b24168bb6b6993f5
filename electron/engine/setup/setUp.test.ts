import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { unwrap } from '../../contract/errors.ts';
import { uvFileName } from '../environment/install/uv.ts';
import { fakePython, installedProgram } from '../environment/testing/fakePython.ts';
import { LINUX_MACHINE } from '../environment/testing/machines.ts';
import { setUp } from './setUp.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

it.each([
  ['2.13.0+cpu', []],
  // A mirror may serve this build under the same name.
  ['2.13.0', [expect.stringMatching(/\(cu130\).*\(cpu\)/)]],
  ['2.13.0+cu126', [expect.stringMatching(/\(cu126\).*\(cpu\).*--repair/)]],
])('reports that the installed PyTorch is not the chosen one: %s', async (torch, expected) => {
  const paths = installedProgram(temporaryFolder(), {
    'requirements.txt': 'torch==2.13.0\n',
    'requirements.lock': 'torch==2.13.0 --hash=sha256:aa\n',
  });
  await writeFile(join(paths.root, 'uv', uvFileName(process.platform)), '');
  const { run } = fakePython({ packages: { torch } });
  const { remarks } = unwrap(await setUp({ paths, machine: LINUX_MACHINE, env: {} }, run));
  expect(remarks.filter((remark) => remark.includes('PyTorch'))).toEqual(expected);
});
