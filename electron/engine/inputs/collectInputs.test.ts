import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fatesOf } from '../../contract/folderNames.ts';
import { madeSystem } from '../system/testing/madeSystem.ts';
import { temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { collectInputs, inspectInputs } from './collectInputs.ts';

const FASTA = '>a\nACGT\n';

async function collected(...named: string[]): Promise<string[] | string> {
  const outcome = await collectInputs(named);
  return outcome.ok ? outcome.value.paths : outcome.error.code;
}

describe('the inputs of a run', () => {
  it('are refused on Windows if Python could not open them', async () => {
    const folder = temporaryFolder().padEnd(250, '/x');
    await mkdir(folder, { recursive: true });
    const [short, long] = [join(folder, 'a.fa'), join(folder, 'abcdefgh.fa')];
    for (const file of [short, long]) await writeFile(file, FASTA);
    const limit = madeSystem('win32');
    expect((await collectInputs([short], { limit })).ok).toBe(true);
    const refused = await collectInputs([folder], { limit });
    expect(!refused.ok && refused.error).toMatchObject({
      code: 'input_unreadable',
      wording: { cause: { values: { path: long, length: 262, most: 259 } } },
    });
    expect(await collected(folder)).toEqual([short, long]);
  });

  it.skipIf(process.platform === 'win32')(
    'are all sequence files of a folder, also behind links, whether or not they can be read',
    async () => {
      const parent = temporaryFolder();
      const [folder, elsewhere] = [join(parent, 'data'), join(parent, 'elsewhere')];
      await mkdir(join(folder, 'deep'), { recursive: true });
      await mkdir(elsewhere);
      for (const file of [join(folder, 'b.fa'), join(folder, 'deep', 'c.fq.gz'), join(elsewhere, 'd.fna')])
        await writeFile(file, FASTA);
      await writeFile(join(folder, 'notes.txt'), 'a note');
      await writeFile(join(folder, '._b.fa'), FASTA);
      await symlink(join(elsewhere, 'd.fna'), join(folder, 'a.fna'));
      await symlink(elsewhere, join(folder, 'linked'));
      await symlink(folder, join(folder, 'deep', 'circle'));
      await symlink('nowhere', join(folder, 'broken.fa'));
      expect(await collectInputs([folder])).toEqual({
        ok: true,
        value: {
          paths: ['a.fna', 'b.fa', 'broken.fa', 'deep/c.fq.gz', 'linked/d.fna'].map((name) =>
            join(folder, name),
          ),
          ignored: 1,
          someIgnored: [join(folder, 'notes.txt')],
        },
      });
    },
  );

  it('are the same for a folder that was chosen and one that was dropped on a browser', async () => {
    const parent = temporaryFolder();
    const paths = [
      'data/b.FA.gz',
      'data/deep/deeper/c.fastq',
      'data/notes.docx',
      'data/.DS_Store',
      'data/.hidden/d.fa',
      'data/samples.csv',
      'data/deep/plate.csv',
      'data/old_predictions/run.db',
      'data/old_predictions/viral_sequences.fna',
      'data/old_predictions/work/parts/e.fa',
      'data/old_predictions/mine.fa',
      'data/work/f.fna',
    ];
    for (const path of paths) {
      await mkdir(join(parent, dirname(path)), { recursive: true });
      await writeFile(join(parent, path), /notes|plate/.test(path) ? 'a,b' : FASTA);
    }
    const chosen = await collectInputs([join(parent, 'data')], { sheets: true });
    const fates = fatesOf(paths);
    const below = (fate: string) =>
      paths.filter((_, index) => fates[index] === fate).map((path) => join(parent, path));
    expect(chosen).toEqual({
      ok: true,
      value: { paths: below('taken').toSorted(), ignored: 3, someIgnored: expect.any(Array) as string[] },
    });
    const named = ['data/.hidden', 'data/deep/plate.csv', 'data/notes.docx'].map((name) =>
      join(parent, name),
    );
    if (chosen.ok) expect(chosen.value.someIgnored.toSorted()).toEqual(named);
    expect(below('ignored')).toEqual([join(parent, 'data/.hidden/d.fa')]);
    expect(below('unknown')).toEqual([join(parent, 'data/notes.docx'), join(parent, 'data/deep/plate.csv')]);
    // A file that the user names is accepted, whatever its name.
    expect(fatesOf(['notes.docx', '.a.fa', 'run.db', 'viral_sequences.fna'])).toEqual(Array(4).fill('taken'));
  });

  it('are found in a folder by their content where the name says nothing, and nothing else is', async () => {
    const folder = temporaryFolder();
    const fastq = '@r\nACGTN\n+\nIIIII\n';
    const used = {
      'prokka.fsa': FASTA,
      'x.fa (1)': FASTA,
      'x.fa (1).gz': 'any',
      'old.lzma': FASTA,
      'plate.seq': '\uFEFF\r\n>a b\r\nacgtrykm\r\n',
      'reads.txt': fastq,
      contigs: `>a\n${'ACGT'.repeat(5000)}`,
      'last.fa.lzma': 'any',
      'to unpack.fastq.lz4': 'any',
    };
    const passedOver = {
      '.snapshot/daily/a.fa': FASTA,
      '.ipynb_checkpoints/a.fa': FASTA,
      '.kept.fa': FASTA,
      'x.fa~': FASTA,
      'x.fa.part': FASTA,
      'genes.faa': '>a\nMKLVERTIPQW\n',
      'x.qual': '>a\n30 30 40\n',
      'notes.txt': 'read me',
      'gb.seq': 'LOCUS       A\n',
      empty: '',
    };
    for (const [name, content] of Object.entries({ ...used, ...passedOver })) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), content);
    }
    const outcome = await collectInputs([folder]);
    if (!outcome.ok) throw new Error(outcome.error.cause);
    const inFolder = (paths: readonly string[]) => paths.map((path) => path.slice(folder.length + 1)).sort();
    expect(inFolder(outcome.value.paths)).toEqual(Object.keys(used).sort());
    const first = Object.keys(passedOver).map((name) =>
      name.includes('/') ? dirname(name.replace('/daily', '')) : name,
    );
    expect(inFolder(outcome.value.someIgnored)).toEqual(first.sort());
    expect(outcome.value.ignored).toBe(first.length);
  });

  it('do not include the results of an earlier run, unless named', async () => {
    const folder = temporaryFolder();
    const run = join(folder, 'out');
    await mkdir(run);
    for (const file of [join(folder, 'a.fa'), join(run, 'viral_sequences.fna'), join(run, 'mine.fa')])
      await writeFile(file, FASTA);
    await writeFile(join(run, 'run.db'), '');
    expect(await collected(folder)).toEqual([join(folder, 'a.fa'), join(run, 'mine.fa')]);
    expect(await collected(join(run, 'viral_sequences.fna'))).toEqual([join(run, 'viral_sequences.fna')]);
  });

  it.skipIf(process.platform === 'win32')('do not include pipes, which can be read only once', async () => {
    const pipe = join(temporaryFolder(), 'reads.fa');
    execFileSync('mkfifo', [pipe]);
    expect(await collected(pipe)).toBe('input_unreadable');
  });

  it.skipIf(WITHOUT_PYTHON)('may be more than fit on a command line', async () => {
    const folder = temporaryFolder();
    const paths = Array.from({ length: 800 }, (_, n) => join(folder, `${n}`, 'x'.repeat(4000)));
    const found: string[] = [];
    const outcome = await inspectInputs(testContext(), paths, { looks: ['500'], repairs: [] }, (file) =>
      found.push(file.path),
    );
    expect(outcome).toEqual({ ok: true, value: undefined });
    expect(found).toEqual(paths);
  });
});
