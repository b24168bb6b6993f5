import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agreement } from '../../../contract/otherTools.ts';
import { isOurName } from '../../../contract/folderNames.ts';
import {
  compute,
  newFolder,
  preparedRun,
  removeFolders,
  type PreparedRun,
} from '../../store/testing/storeFixture.ts';
import { makeReaders, readBack } from '../testing/readers.ts';
import { recordOf } from '../../store/testing/syntheticRun.ts';
import { exportResults, type ExportRequest } from '../exportResults.ts';
import {
  joinOtherTable,
  otherText,
  saidByTool,
  selectionOf,
  summariseOtherTable,
  type JoinedTable,
  addOtherTable,
  MOST_KEPT_BYTES,
  removeOtherTable,
  storedOtherTables,
} from './joinOtherTable.ts';
import { readOtherTable, type ReadOtherTable } from './readOtherTable.ts';

const BY_ROW = { by: 'row', descending: false } as const;

/** The examples of the tools' own documentation. */
const GENOMAD = `seq_name	length	topology	coordinates	n_genes	genetic_code	virus_score	fdr	n_hallmarks	marker_enrichment	taxonomy
virus_a	1500	No terminal repeats	NA	2	11	0.9871	NA	1	3.2	Viruses;Duplodnaviria
other_a|provirus_2_900	898	Provirus	2-900	1	11	0.7512	NA	0	1.1	Viruses
other_a|provirus_950_1400	450	Provirus	950-1400	1	11	0.9012	NA	0	1.3	Viruses
gone_1	3000	DTR	NA	4	11	0.99	NA	2	8.0	Viruses
`;
const CHECKV = `contig_id	contig_length	provirus	proviral_length	gene_count	viral_genes	host_genes	checkv_quality	miuvig_quality	completeness	completeness_method	contamination	kmer_freq	warnings
virus_a	1500	No	NA	2	1	0	High-quality	High-quality	93.1	AAI-based (high-confidence)	0.0	1.0	
virus_b	1500	No	NA	1	0	0	Not-determined	Genome-fragment	NA	NA	0.0	1.0	no viral genes detected
`;

const DVF = `name	len	score	pvalue	lane
virus_a	1500	0.90	1e-60	007
virus_b	1500	0.12	NA	012
other_b||x1	500	0.31	0.4	003
`;

const folder = newFolder();
let run: PreparedRun;

beforeAll(async () => {
  const isVirus = [true, true, false, false];
  run = await preparedRun([
    [
      recordOf('virus_a flag=1 multi=2.0', [63, 63]),
      recordOf('virus_b flag=0', [63, 63]),
      recordOf('other_a', [63, 63]),
      recordOf('other_b||x1', [63]),
      recordOf('unscored', [0]),
    ],
  ]);
  for (const { key } of await run.store.pendingParts())
    await compute(run, key, ({ row }) => (isVirus[row] === true ? 0.9 : 0.1));
  await run.store.writeTables();
});
afterAll(async () => {
  await run.store.close();
  removeFolders();
});

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const read = (name: string, content: string | Buffer): Promise<ReadOtherTable> =>
  readOtherTable(file(name, content));

const joinTable = async (name: string, content: string | Buffer): Promise<JoinedTable> =>
  joinOtherTable(run.store, await read(name, content));

async function namesWith(joined: JoinedTable, agreement: Agreement): Promise<string[]> {
  const selection = selectionOf({ other: { table: 0, agreement } }, [joined]);
  return (await run.store.findSequences(selection, BY_ROW, 0, 10)).items.map(({ seqName }) => seqName);
}

/** The cells of a table exported as TSV, line by line. */
async function exportedCells(request: Pick<ExportRequest, 'selection' | 'others'>): Promise<string[][]> {
  const path = join(folder, 'exported.tsv');
  await exportResults(run.store, {
    ...request,
    sort: BY_ROW,
    format: 'tsv',
    language: 'en',
    path,
    environment: () => Promise.reject(new Error('not needed')),
  });
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => line.split('\t'));
}

describe('a table of another tool', () => {
  it('is joined by name if it is geNomad’s, with proviruses joined to the sequence they are in', async () => {
    const joined = await joinTable('gut_virus_summary.tsv', GENOMAD);
    expect(await summariseOtherTable(run.store, joined)).toEqual({
      title: 'geNomad',
      file: 'gut_virus_summary.tsv',
      rule: 'listed',
      columns: ['virus_score', 'taxonomy'],
      lines: 4,
      matched: 3,
      unmatched: ['gone_1'],
      calls: {
        virus: { virus: 1, notVirus: 0, notInTable: 1 },
        others: { virus: 1, notVirus: 0, notInTable: 1 },
        not_scored: { virus: 0, notVirus: 0, notInTable: 1 },
        failed: { virus: 0, notVirus: 0, notInTable: 0 },
      },
    });
    expect(await namesWith(joined, 'both')).toEqual(['virus_a']);
    expect(await namesWith(joined, 'only_theirs')).toEqual(['other_a']);
    expect(otherText(joined, 0)).toEqual({ isVirus: true, text: '0.9871 · Viruses;Duplodnaviria' });
    expect(otherText(joined, 1)).toBeNull();
    expect(saidByTool(joined, 0)).toEqual({
      title: 'geNomad',
      isVirus: true,
      columns: [
        { name: 'virus_score', value: '0.9871' },
        { name: 'taxonomy', value: 'Viruses;Duplodnaviria' },
      ],
    });
    expect(saidByTool(joined, 1)).toEqual({ title: 'geNomad', isVirus: null, columns: [] });
  });

  it('counts sequences as virus if CheckV could determine a quality', async () => {
    const joined = await joinTable('quality_summary.tsv', CHECKV);
    // The names from the export for CheckV; row 3 is no virus_b.
    const exported = CHECKV.replace('virus_a', 'row1_virus_a').replace('virus_b', 'row3_virus_b');
    expect((await joinTable('quality_summary.tsv', exported)).named).toEqual([0]);
    expect(joined.theirs).toEqual([0]);
    expect(otherText(joined, 1)).toEqual({ isVirus: false, text: 'Not-determined · NA' });
  });

  it('calls only sequences that it lists not viral', async () => {
    const joined = await joinTable('reads_dvfpred.txt', DVF);
    expect(await namesWith(joined, 'only_ours')).toEqual(['virus_b']);
    expect(await namesWith(joined, 'not_in_table')).toEqual(['other_a', 'unscored']);
    const { calls } = await summariseOtherTable(run.store, joined);
    expect(calls.virus).toEqual({ virus: 1, notVirus: 1, notInTable: 0 });
    expect(calls.others).toEqual({ virus: 0, notVirus: 1, notInTable: 1 });
  });

  it.each([
    [
      'a spreadsheet’s',
      'calls.csv',
      '\uFEFFContig;Pred;Note\r\n"virus_b flag=0";Phage;"with ; and ""quotes"""\r\nother_a;non-phage;\r\n',
      [1],
      { isVirus: true, text: 'Phage · with ; and "quotes"' },
    ],
    [
      'VirSorter2’s',
      'final-viral-score.tsv',
      'seqname\tdsDNAphage\tmax_score\tmax_score_group\tlength\nvirus_b||full\t0.9\t0.93\tdsDNAphage\t1500\nother_b||x1\t0.1\t0.6\tssDNA\t500\n',
      [1, 3],
      { isVirus: true, text: '0.93 · dsDNAphage' },
    ],
    [
      'a packed list of names',
      'names.tsv.gz',
      gzipSync('name\nvirus_b\n\nother_b||x1\n'),
      [1, 3],
      { isVirus: true, text: '' },
    ],
  ])('is read if it is %s', async (_, name, content, theirs, expected) => {
    const joined = await joinTable(name, content);
    expect(joined.theirs).toEqual(theirs);
    expect(joined.unmatched).toEqual([]);
    expect(otherText(joined, 1)).toEqual(expected);
  });

  it.each([
    ['sequences', 'a.fasta', '>virus_a\nACGT\n'],
    ['nothing', 'empty.tsv', ''],
    ['a head alone', 'head.tsv', GENOMAD.split('\n')[0]!],
    ['bytes', 'bytes.tsv', Buffer.alloc(3000)],
    ['damaged quotes', 'quotes.csv', 'name,call\n"virus_a,virus\n'],
    ['a damaged archive', 'cut.tsv.gz', gzipSync(GENOMAD).subarray(0, 60)],
    // Concatenated gzip members: 640 MB, more than a string can hold.
    [
      'one endless line',
      'line.tsv.gz',
      Buffer.concat(Array<Buffer>(40).fill(gzipSync(Buffer.alloc(2 ** 24, 'A')))),
    ],
  ])('is refused with a message if it holds %s', async (_, name, content) => {
    await expect(read(name, content)).rejects.toMatchObject({ error: { code: 'usage' } });
  });

  it('is refused if it is a pipe without a writer', async () => {
    if (process.platform === 'win32') return;
    const pipe = join(folder, 'pipe.tsv');
    execFileSync('mkfifo', [pipe]);
    await expect(readOtherTable(pipe)).rejects.toMatchObject({ error: { code: 'usage' } });
  });

  it("truncates names that are longer than any sequence's", async () => {
    const { lines } = await read('long.tsv', `name\n${'A'.repeat(5000)} rest\nvirus_a\n`);
    expect(lines.map(({ name }) => name.length)).toEqual([1000, 7]);
  });

  it('is stored with a run only up to 16 MB, because all windows wait while it is parsed', async () => {
    const path = file('many.tsv', `name\n${'virus_a\n'.repeat(400_000)}`);
    await expect(readOtherTable(path, { mostBytes: MOST_KEPT_BYTES })).rejects.toMatchObject({
      error: { code: 'usage' },
    });
    const table = await read('gut_virus_summary.tsv', GENOMAD);
    const spaces = ' '.repeat(MOST_KEPT_BYTES);
    writeFileSync(join(run.folder, 'other_tools.json'), `${JSON.stringify([table])}${spaces}`);
    expect(storedOtherTables(run.folder)).toEqual([]);
    unlinkSync(join(run.folder, 'other_tools.json'));
  });

  it('is stored with the run, deleted with it, and never reaches outside its folder', async () => {
    addOtherTable(run.folder, await read('gut_virus_summary.tsv', GENOMAD));
    addOtherTable(run.folder, await read('quality_summary.tsv', CHECKV));
    addOtherTable(run.folder, await read('gut_virus_summary.tsv', GENOMAD));
    expect(storedOtherTables(run.folder).map(({ title }) => title)).toEqual(['CheckV', 'geNomad']);
    expect(isOurName('other_tools.json')).toBe(true);
    removeOtherTable(run.folder, 0);
    expect(storedOtherTables(run.folder)).toEqual([await read('gut_virus_summary.tsv', GENOMAD)]);
    removeOtherTable(run.folder, 0);
    expect(existsSync(join(run.folder, 'other_tools.json'))).toBe(false);

    writeFileSync(join(run.folder, 'other_tools.json'), '[{"title": 1}]');
    expect(storedOtherTables(run.folder)).toEqual([]);
    removeOtherTable(run.folder, 0);
    if (process.platform === 'win32') return;
    const outside = file('outside.json', '[]');
    symlinkSync(outside, join(run.folder, 'other_tools.json'));
    expect(() => storedOtherTables(run.folder)).toThrow('is a link');
    unlinkSync(join(run.folder, 'other_tools.json'));
    expect(readFileSync(outside, 'utf8')).toBe('[]');
  });

  it('is exported with numbers as numbers, unless they are names', async (context) => {
    const missing = makeReaders();
    context.skip(missing !== undefined, missing);
    const named = DVF.replace('name\tlen', 'contig\tlen');
    const others = [await joinTable('lanes.tsv', named)];
    const paths = await Promise.all(
      (['parquet', 'xlsx', 'csv', 'json'] as const).map(async (format) => {
        const path = join(folder, `numbers.${format}`);
        await exportResults(run.store, {
          selection: { filter: { predictions: ['virus'] } },
          others,
          sort: BY_ROW,
          format,
          language: 'de',
          path,
          environment: () => Promise.reject(new Error('not needed')),
        });
        return path;
      }),
    );
    const [parquet, xlsx, csv, json] = readBack(
      ['parquet', paths[0]!],
      ['xlsx', paths[1]!],
      ['csv_de', paths[2]!],
      ['json', paths[3]!],
    ) as [
      { types: Record<string, string>; rows: Record<string, unknown>[] },
      Record<string, unknown[][]>,
      Record<string, string>[],
      { sequences: Record<string, unknown>[] },
    ];
    expect(parquet.types).toMatchObject({ lanes_tsv_pvalue: 'double', lanes_tsv_lane: 'string' });
    expect(parquet.rows.map((row) => row['lanes_tsv_pvalue'])).toEqual([1e-60, null]);
    expect(json.sequences.map((row) => row['lanes_tsv_pvalue'])).toEqual([1e-60, null]);
    expect(xlsx['Sequenzen']!.map((row) => row.slice(-4))).toEqual([
      ['lanes.tsv: len', 'lanes.tsv: score', 'lanes.tsv: pvalue', 'lanes.tsv: lane'],
      [1500, 0.9, 1e-60, '007'],
      [1500, 0.12, null, '012'],
    ]);
    expect(csv.map((row) => row['lanes_tsv_score'])).toEqual(['0,9', '0,12']);
  });

  it('is exported after our columns', async () => {
    const others = [
      await joinTable('gut_virus_summary.tsv', GENOMAD),
      await joinTable('quality_summary.tsv', CHECKV),
    ];
    const selection = selectionOf({ other: { table: 0, agreement: 'only_theirs' } }, others);
    const [head = [], ...rows] = await exportedCells({ selection, others });
    const from = head.indexOf('genomad_call');
    expect(head.slice(from)).toEqual([
      'genomad_call',
      'genomad_virus_score',
      'genomad_taxonomy',
      'checkv_call',
      'checkv_checkv_quality',
      'checkv_completeness',
    ]);
    expect(rows.map((row) => [row[1], ...row.slice(from)])).toEqual([
      ['other_a', 'virus', '0.7512', 'Viruses', 'NA', 'NA', 'NA'],
    ]);
  });

  it('gives its columns a name of its own, whatever its title is', async () => {
    const named = await joinTable('names.csv', 'name,call\nvirus_a,virus\nvirus_b,\n');
    const titled = (title: string): JoinedTable => ({ ...named, table: { ...named.table, title } });
    const [head = [], ...rows] = await exportedCells({
      selection: { filter: { predictions: ['virus'] } },
      others: ['-Tool  2.0!', '-tool  2.0!', '...', 'Tool'].map(titled),
    });
    expect(head.slice(-8)).toEqual(
      ['tool_2_0', 'tool_2_0_2', 'other', 'tool'].flatMap((prefix) => [`${prefix}_call`, `${prefix}_call`]),
    );
    expect(rows.map((row) => row.slice(-2))).toEqual([
      ['virus', 'virus'],
      ['not_virus', 'NA'],
    ]);
  });
});
