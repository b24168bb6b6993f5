import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runRequestSchema } from '../../../contract/rpc/runs.ts';
import { chooseRunFolder } from './createRun.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';

let parent: string;
beforeEach(() => {
  parent = temporaryFolder();
});

const REAL = { notice: null };
const folderOf = async (
  name: string | undefined,
  model: { notice: string | null } = REAL,
  outputDir?: string,
) => {
  const request = runRequestSchema.parse({
    inputs: ['/data/reads.fa.gz'],
    ...(name === undefined ? {} : { name }),
    ...(outputDir === undefined ? {} : { outputDir }),
  });
  const folder = await chooseRunFolder(
    { request, defaultParent: parent, freeName: true },
    ['/data/reads.fa.gz', '/data/more.fa'],
    model,
  );
  return folder.startsWith(parent) ? folder.slice(parent.length + 1) : folder;
};

describe('the folder of a run', () => {
  it.each([
    ['Gut March, 5 samples', 'Gut March, 5 samples'],
    ['Größe 実験', 'Größe 実験'],
    ['Gro\u0308ße', 'Größe'],
    ['a/b\\c: "d" <e>?|*', 'a_b_c_ _d_ _e____'],
    ['../../etc', '_.._etc'],
    ['-rf', 'rf'],
    ['COM1', '_COM1'],
    ['nul.txt', '_nul.txt'],
    [' ends with a dot. ', 'ends with a dot'],
    ['line\nbreak\u202E', 'line_break_'],
    ['実'.repeat(200), '実'.repeat(66)],
    // Nothing of these can be part of a name.
    ['', 'reads_predictions'],
    ['…', 'reads_predictions'],
    [undefined, 'reads_predictions'],
  ])(
    'is named after the run, safely on every system, else after the first file: %j',
    async (name, folder) => {
      expect(await folderOf(name)).toBe(folder);
    },
  );

  it('carries the mark of a model that is not for research', async () => {
    expect(await folderOf('Pond', { notice: 'Teaching model' })).toBe('Pond_NOT_FOR_RESEARCH');
  });

  it('gets another name if a folder with files, or a file, already has it', async () => {
    await mkdir(join(parent, 'Pond'));
    expect(await folderOf('Pond')).toBe('Pond');
    await writeFile(join(parent, 'Pond', 'reads.fa'), '');
    await writeFile(join(parent, 'Pond_2'), '');
    expect(await folderOf('Pond')).toBe('Pond_3');
  });

  it("is the chosen one, whatever the run's name", async () => {
    expect(await folderOf('Pond', REAL, '/results/here')).toBe('/results/here');
  });
});
