import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asAppError } from '../../contract/errors.ts';
import { madeSystem } from '../system/testing/madeSystem.ts';
import { temporaryFolder } from '../testing/testContext.ts';
import { isOurName, SHORTLIST_FILE } from '../../contract/folderNames.ts';
import { checkRunFolder, makeRunFolder, removeRun } from './runFolder.ts';
import { markedRows, markSequence, shortlistOf } from './shortlist.ts';

async function refusal(folder: string, force = false, inputs: string[] = []): Promise<string | null> {
  const checked = await checkRunFolder(folder, force, inputs);
  return checked.ok ? null : checked.error.code;
}

async function makingFails(folder: string): Promise<string> {
  try {
    await makeRunFolder(folder);
    return 'made';
  } catch (reason) {
    return asAppError(reason).code;
  }
}

/** Names that a program leaves when it is killed at the worst moment. */
const HALF_WRITTEN = [
  'run.db.creating',
  'run.db.creating-journal',
  'run.lock.takeover',
  'run.lock.0b7c6a52-6c8e-4b57-9d0c-3f0e7f0f6a11',
  'run.lock.0b7c6a52-6c8e-4b57-9d0c-3f0e7f0f6a11.probe',
  'viral_rows.u32.tmp',
  'viral_sequences.fna.4711.tmp',
  'sequences.tsv.tmp',
  'run.json.tmp',
  'shortlist.json.tmp',
];

describe('the folder of a run', () => {
  it('may hold leftovers of a run that died before it had a database; a deletion removes those and nothing else', async () => {
    const folder = temporaryFolder();
    for (const name of HALF_WRITTEN) await writeFile(join(folder, name), '');
    await mkdir(join(folder, 'work', 'parts'), { recursive: true });
    expect(await refusal(folder)).toBe(null);
    for (const name of ['thesis.tmp', 'run.db.mine']) {
      await writeFile(join(folder, name), '');
      expect(await refusal(folder)).toBe('folder_not_ours');
    }
    await writeFile(join(folder, 'run.lock'), '');
    await removeRun(folder);
    expect((await readdir(folder)).sort()).toEqual(['run.db.mine', 'run.lock', 'thesis.tmp']);
  });

  it('is refused on Windows if the longest of its files could not be opened', async () => {
    const windows = madeSystem('win32');
    const longest = HALF_WRITTEN.reduce((most, name) => Math.max(most, join('/', name).length), 0);
    const folder = temporaryFolder().padEnd(windows.longestPath - longest, '/x');
    const refused = await checkRunFolder(folder, false, [], windows);
    expect(!refused.ok && refused.error).toMatchObject({
      code: 'folder_unwritable',
      wording: { cause: { key: 'place.too_long' } },
    });
    expect((await checkRunFolder(folder, false, [])).ok).toBe(true);
    const short = temporaryFolder().padEnd(windows.longestPath - 64, '/x');
    expect((await checkRunFolder(short, false, [], windows)).ok).toBe(true);
  });

  it('may be the folder of a workflow task, which holds the inputs and hidden files', async () => {
    const folder = temporaryFolder();
    const input = join(folder, 'contigs.fa');
    for (const name of ['.command.sh', '.command.run', 'contigs.fa']) await writeFile(join(folder, name), '');
    expect(await refusal(folder, false, [input])).toBe(null);
    expect(await refusal(folder)).toBe('folder_not_ours');
  });

  it('is refused if the run would delete its own input', async () => {
    const folder = join(temporaryFolder(), 'run');
    await mkdir(folder);
    const [viral, mine] = [join(folder, 'viral_sequences.fna'), join(folder, 'mine.fa')];
    for (const name of ['run.db', 'viral_sequences.fna', 'mine.fa']) await writeFile(join(folder, name), '');
    expect(await refusal(folder)).toBe('folder_has_run');
    expect(await refusal(folder, true, [mine])).toBe(null);
    expect(await refusal(folder, true, [mine, viral])).toBe('usage');
  });

  it.skipIf(process.platform === 'win32')('is refused in plain words if it cannot be created', async () => {
    const parent = temporaryFolder();
    await writeFile(join(parent, 'file'), '');
    await symlink(join(parent, 'nowhere', 'else'), join(parent, 'broken'));
    for (const folder of ['file', 'file/below', 'file/far/below'])
      expect(await refusal(join(parent, folder)), folder).toBe('folder_unwritable');
    for (const folder of ['broken', 'x'.repeat(300)])
      expect(await makingFails(join(parent, folder)), folder).toBe('folder_unwritable');
    expect(await makingFails(join(parent, 'a', 'b', 'c'))).toBe('made');
    expect(existsSync(join(parent, 'a', 'b', 'c'))).toBe(true);
  });

  it.skipIf(process.platform !== 'linux')('is refused if mkdir always fails', async () => {
    expect(await makingFails('/proc/virnucpro/run')).toBe('folder_unwritable');
  });
});

describe('the shortlist', () => {
  const phage = { row: 7, seqName: 'k141_7' };

  it('is kept by row, and leaves no file when all are gone', async () => {
    const folder = temporaryFolder();
    expect(shortlistOf(folder)).toEqual([]);
    for (const row of [7, 2, 7]) markSequence(folder, { ...phage, row }, true);
    expect(shortlistOf(folder)).toEqual([2, 7]);
    expect(markedRows(folder, {})).toEqual({});
    expect(markedRows(folder, { shortlisted: true })).toEqual({ marked: [2, 7] });
    expect(await readdir(folder)).toEqual([SHORTLIST_FILE]);
    expect(isOurName(SHORTLIST_FILE)).toBe(true);
    for (const row of [2, 7]) markSequence(folder, { ...phage, row }, false);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is not written over an unreadable file, nor through a link', async () => {
    const folder = temporaryFolder();
    await writeFile(join(folder, SHORTLIST_FILE), '[{"row": 1');
    expect(() => markSequence(folder, phage, true)).toThrow('cannot be read');
    expect(await readFile(join(folder, SHORTLIST_FILE), 'utf8')).toBe('[{"row": 1');

    const outside = join(temporaryFolder(), 'outside.json');
    await writeFile(outside, '[]');
    const linked = temporaryFolder();
    await symlink(outside, join(linked, SHORTLIST_FILE));
    expect(() => markSequence(linked, phage, true)).toThrow('is a link');
    expect(await readFile(outside, 'utf8')).toBe('[]');
  });
});
