import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agreement } from '../../../contract/otherTools.ts';
import { isOurName } from '../../../contract/folderNames.ts';
import { compute, preparedRun, type PreparedRun } from '../../store/testing/storeFixture.ts';
import { BY_ROW, cellsOf, exported } from '../testing/exported.ts';
import { readBack } from '../testing/readers.ts';
import type { RunStore } from '../../store/runStore.ts';
import { recordOf } from '../../store/testing/syntheticRun.ts';
import {
  joinOtherTable,
  otherText,
  saidByTool,
  selectionOf,
  summariseOtherTable,
  type JoinedTable,
  addOtherTable,
  callOtherTable,
  MOST_KEPT_BYTES,
  removeOtherTable,
  storedOtherTables,
} from './joinOtherTable.ts';
import { layoutOf, namesMeant } from './knownTables.ts';
import { readOtherTable, type ReadOtherTable } from './readOtherTable.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';

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

const VIRAL = selectionOf({ predictions: ['virus'] }, []);

const folder = temporaryFolder();
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

async function namesWith(joined: readonly JoinedTable[], agreement: Agreement, table: number | null = 0) {
  const selection = selectionOf({ other: { table, agreement } }, joined);
  return (await run.store.findSequences(selection, BY_ROW, 0, 10)).items.map(({ seqName }) => seqName);
}

describe('a table of another tool', () => {
  it('is joined by name if it is geNomad’s, with proviruses joined to the sequence they are in', async () => {
    const joined = await joinTable('gut_virus_summary.tsv', GENOMAD);
    expect(await summariseOtherTable(run.store, joined)).toEqual({
      title: 'geNomad',
      file: 'gut_virus_summary.tsv',
      rule: 'listed',
      named: { column: null, virus: 'all' },
      columns: ['virus_score', 'taxonomy', 'topology', 'coordinates', 'n_hallmarks'],
      lines: 4,
      matched: 3,
      unmatched: ['gone_1'],
      notUnderstood: { lines: 0, words: [] },
      calls: {
        virus: { virus: 1, notVirus: 0, noCall: 0, notInTable: 1 },
        others: { virus: 1, notVirus: 0, noCall: 0, notInTable: 1 },
        not_scored: { virus: 0, notVirus: 0, noCall: 0, notInTable: 1 },
        failed: { virus: 0, notVirus: 0, noCall: 0, notInTable: 0 },
      },
    });
    expect(await namesWith([joined], 'both')).toEqual(['virus_a']);
    expect(await namesWith([joined], 'only_theirs')).toEqual(['other_a']);
    expect(otherText(joined, 0)).toEqual({
      isVirus: true,
      text: '0.9871 · Viruses;Duplodnaviria · No terminal repeats · NA · 1',
    });
    expect(otherText(joined, 1)).toBeNull();
    expect(saidByTool(joined, 0)).toMatchObject({
      title: 'geNomad',
      isNamed: true,
      isVirus: true,
      columns: expect.arrayContaining([{ name: 'virus_score', value: '0.9871' }]) as unknown,
    });
    expect(saidByTool(joined, 1)).toEqual({
      ...{ title: 'geNomad', isNamed: false, isVirus: null, columns: [] },
    });
  });

  it('counts sequences as virus if CheckV could determine a quality', async () => {
    const joined = await joinTable('quality_summary.tsv', CHECKV);
    // The names from the export for CheckV; row 3 is no virus_b.
    const exported = CHECKV.replace('virus_a', 'row1_virus_a').replace('virus_b', 'row3_virus_b');
    expect((await joinTable('quality_summary.tsv', exported)).named).toEqual([0]);
    expect(joined.rows.virus).toEqual([0]);
    expect(otherText(joined, 1)).toEqual({ isVirus: false, text: 'Not-determined · NA' });
  });

  it('calls only sequences that it lists not viral', async () => {
    const joined = await joinTable('reads_dvfpred.txt', DVF);
    expect(await namesWith([joined], 'only_ours')).toEqual(['virus_b']);
    expect(await namesWith([joined], 'not_in_table')).toEqual(['other_a', 'unscored']);
    const { calls } = await summariseOtherTable(run.store, joined);
    expect(calls.virus).toEqual({ virus: 1, notVirus: 1, noCall: 0, notInTable: 0 });
    expect(calls.others).toEqual({ virus: 0, notVirus: 1, noCall: 0, notInTable: 1 });
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
      [],
      { isVirus: null, text: '' },
    ],
  ])('is read if it is %s', async (_, name, content, theirs, expected) => {
    const joined = await joinTable(name, content);
    expect(joined.rows.virus).toEqual(theirs);
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
    expect(storedOtherTables(run.folder).map(({ title }) => title)).toEqual(['geNomad', 'CheckV']);
    expect(isOurName('other_tools.json')).toBe(true);
    removeOtherTable(run.folder, 1);
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

  it.each([
    [
      'scores alone',
      '"","name","length","score"\n"1","virus_a",600,0.98\n"2","virus_b",600,0.03\n',
      'unknown',
      [],
    ],
    ['a list of names', 'name\nvirus_a\nvirus_b\n', 'unknown', []],
    ['scores as calls', 'contig\tprediction\nvirus_a\t0.98\nvirus_b\t0.03\n', 'call', ['0.98', '0.03']],
    ['classes as numbers', 'contig\tclass\nvirus_a\t1\nvirus_b\t0\n', 'call', ['1', '0']],
    [
      'words of no call',
      'contig\tclass\nvirus_a\tdsDNAphage\nvirus_b\tno idea\n',
      'call',
      ['dsDNAphage', 'no idea'],
    ],
  ])('makes no call of %s', async (_, content, rule, words) => {
    const joined = await joinTable('unclear.tsv', content);
    expect(joined.rows).toEqual({ virus: [], notVirus: [], noCall: [0, 1] });
    const { calls, notUnderstood, ...found } = await summariseOtherTable(run.store, joined);
    expect(found.rule).toBe(rule);
    expect(notUnderstood).toEqual({ lines: 2, words });
    expect(calls.virus).toEqual({ virus: 0, notVirus: 0, noCall: 2, notInTable: 0 });
    expect(await namesWith([joined], 'only_ours')).toEqual([]);
    expect(await namesWith([joined], 'no_call')).toEqual(['virus_a', 'virus_b']);
    expect(await namesWith([joined], 'not_in_table')).toEqual(['other_a', 'other_b||x1', 'unscored']);
  });

  it('counts yes and no, or 1 and 0, where its column says that it is a call', async () => {
    for (const [column, yes, no] of [
      ['is_virus', '1', '0'],
      ['Viral', 'True', 'False'],
      ['call', 'yes', 'no'],
    ]) {
      const { rows } = await joinTable('calls.tsv', `id\t${column}\nvirus_a\t${yes}\nvirus_b\t${no}\n`);
      expect(rows).toEqual({ virus: [0], notVirus: [1], noCall: [] });
    }
  });

  it('makes its calls by the rule that the user names', async () => {
    const path = file(
      'rules.csv',
      'name,score,group\nvirus_a,0.95,dsDNAphage\nvirus_b,0.9,host\nother_a,NA,\n',
    );
    const called = async (column: string | null, virus: string) => {
      const { rows } = await joinOtherTable(
        run.store,
        await readOtherTable(path, { named: { column, virus } }),
      );
      return [rows.virus, rows.notVirus];
    };
    expect(await called('score', '>=0.9')).toEqual([[0, 1], []]);
    expect(await called('score', '> 0.9')).toEqual([[0], [1]]);
    expect(await called('score', '<0.95')).toEqual([[1], [0]]);
    expect(await called('group', 'DSDNAphage|ssDNA')).toEqual([[0], [1]]);
    expect(await called(null, 'all')).toEqual([[0, 1, 2], []]);
    await expect(called('other', '>=0.9')).rejects.toMatchObject({ error: { code: 'usage' } });
    await expect(called('score', '>=high')).rejects.toMatchObject({ error: { code: 'usage' } });
    addOtherTable(run.folder, await readOtherTable(path));
    callOtherTable(run.folder, 0, { column: 'score', virus: '>0.9' });
    addOtherTable(run.folder, await readOtherTable(path));
    expect(storedOtherTables(run.folder)).toHaveLength(1);
    expect(storedOtherTables(run.folder)[0]?.lines.map(({ isVirus }) => isVirus)).toEqual([
      true,
      false,
      null,
    ]);
    removeOtherTable(run.folder, 0);
  });

  it('is joined with one of the same layout, and replaces none', async () => {
    const [head, a, ...rest] = GENOMAD.trimEnd().split('\n');
    addOtherTable(run.folder, await read('A_virus_summary.tsv', `${head}\n${a}\n`));
    addOtherTable(run.folder, await read('B_virus_summary.tsv', [head, ...rest].join('\n')));
    addOtherTable(run.folder, await read('A_virus_summary.tsv', `${head}\n${a}\n`));
    const scores = 'seq_name\tchromosome_score\tplasmid_score\tvirus_score\nvirus_a\t0.1\t0.1\t0.8\n';
    addOtherTable(run.folder, await read('A_aggregated_classification.tsv', scores));
    const [both, classes] = storedOtherTables(run.folder);
    expect(both?.lines).toEqual((await read('gut_virus_summary.tsv', GENOMAD)).lines);
    expect(both?.file).toBe('A_virus_summary.tsv, B_virus_summary.tsv');
    expect(classes?.title).not.toBe(both?.title);
    removeOtherTable(run.folder, 0);
    removeOtherTable(run.folder, 0);
  });

  it('answers for all tables at once, or for one', async () => {
    const others = [
      await joinTable('a.tsv', 'id\tcall\nvirus_a\tvirus\nvirus_b\tvirus\n'),
      await joinTable('b.tsv', 'id\tcall\nvirus_a\tvirus\nvirus_b\thost\nother_a\tvirus\n'),
    ];
    const names = (table: number | null, agreement: Agreement) => namesWith(others, agreement, table);
    expect(await names(null, 'both')).toEqual(['virus_a']);
    expect(await names(0, 'both')).toEqual(['virus_a', 'virus_b']);
    expect(await names(1, 'only_ours')).toEqual(['virus_b']);
    expect(await names(null, 'only_theirs')).toEqual([]);
    expect(await names(null, 'not_in_table')).toEqual(['other_b||x1', 'unscored']);
  });

  it('of VIBRANT is known, with the names that the tool changes', () => {
    const first = (title: string, name: string) => namesMeant(title, name).map(({ name: meant }) => meant);
    expect(first('VIBRANT', 'k_fragment_12')).toEqual(['k_fragment_12', 'k']);
    expect(first('x.tsv', 'k_fragment_12')).toEqual(['k_fragment_12']);
    expect(layoutOf(['scaffold', 'type', 'Quality'], 'x.tsv')?.title).toBe('VIBRANT');
  });

  it('never joins a line to a sequence that another line names whole', async () => {
    const part = fc.constantFrom('a', 'b', 'c', ' ', '||full', '|provirus_1_9', '_fragment_1');
    const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('').trim() || 'a');
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(name, { minLength: 1, maxLength: 6 }),
        fc.array(name, { minLength: 1, maxLength: 8 }),
        async (sequences, lines) => {
          const store: Partial<RunStore> = {
            rowsNamed: (names) =>
              Promise.resolve(
                new Map(
                  names.flatMap((one) => (sequences.includes(one) ? [[one, [sequences.indexOf(one)]]] : [])),
                ),
              ),
          };
          const table: ReadOtherTable = {
            ...{ title: 'x.tsv', file: 'x.tsv', rule: 'call', named: null, columns: ['call'] },
            lines: lines.map((one) => ({ name: one, isVirus: !sequences.includes(one), values: [one] })),
          };
          const joined = await joinOtherTable(store as RunStore, table);
          for (const [row, sequence] of sequences.entries())
            if (lines.includes(sequence)) expect(joined.lineOf(row)).toMatchObject({ isVirus: false });
          expect(joined.matched).toBeGreaterThanOrEqual(
            lines.filter((one) => sequences.includes(one)).length,
          );
        },
      ),
    );
  });

  it.each([
    ['numbers', 'virus_a\tREF1\t91.2\nvirus_b\tREF1\t88.0\n'],
    ['words', 'virus_a\tphage\nvirus_b\thost\n'],
  ])('is refused without a heading, above %s', async (_, content) => {
    await expect(read('headless.tsv', content)).rejects.toMatchObject({ error: { code: 'usage' } });
  });

  it('is exported with numbers as numbers, unless they are names', async (context) => {
    const named = DVF.replace('name\tlen', 'contig\tlen');
    const others = [await joinTable('lanes.tsv', named)];
    const asked = { selection: VIRAL, others, language: 'de' } as const;
    const [parquet, xlsx, csv] = readBack(
      context,
      ['parquet', await exported(run.store, 'parquet', asked)],
      ['xlsx', await exported(run.store, 'xlsx', asked)],
      ['csv_de', await exported(run.store, 'csv', asked)],
    );
    expect(parquet.types).toMatchObject({ lanes_tsv_pvalue: 'double', lanes_tsv_lane: 'string' });
    expect(parquet.rows.map((row) => row['lanes_tsv_pvalue'])).toEqual([1e-60, null]);
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
    const [head = [], ...rows] = cellsOf(await exported(run.store, 'tsv', { selection, others }));
    const from = head.indexOf('genomad_call');
    expect(head.slice(from)).toEqual([
      'genomad_call',
      'genomad_virus_score',
      ...['genomad_taxonomy', 'genomad_topology', 'genomad_coordinates', 'genomad_n_hallmarks'],
      'checkv_call',
      'checkv_checkv_quality',
      'checkv_completeness',
    ]);
    expect(rows.map((row) => [row[1], ...row.slice(from)])).toEqual([
      [
        ...['other_a', 'virus', '0.7512; 0.9012', 'Viruses; Viruses', 'Provirus; Provirus'],
        ...['2-900; 950-1400', '0; 0', 'NA', 'NA', 'NA'],
      ],
    ]);
  });

  it('gives its columns a name of its own, whatever its title is', async () => {
    const named = await joinTable('names.csv', 'name,call\nvirus_a,virus\nvirus_b,\n');
    const titled = (title: string): JoinedTable => ({ ...named, table: { ...named.table, title } });
    const others = ['-Tool  2.0!', '-tool  2.0!', '...', 'Tool'].map(titled);
    const [head = [], ...rows] = cellsOf(await exported(run.store, 'tsv', { selection: VIRAL, others }));
    expect(head.slice(-8)).toEqual(
      ['tool_2_0', 'tool_2_0_2', 'other', 'tool'].flatMap((prefix) => [`${prefix}_call`, `${prefix}_call`]),
    );
    expect(rows.map((row) => row.slice(-2))).toEqual([
      ['virus', 'virus'],
      ['NA', 'NA'],
    ]);
  });
});
