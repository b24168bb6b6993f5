import { columnName, columnsOf, sequenceColumn, type SequenceResult } from '../../../contract/columns.ts';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SequenceFilter } from '../../../contract/rpc/results.ts';
import { float32Text } from '../../results/cellText.ts';
import { markSequence } from '../../store/shortlist.ts';
import { compute, computeAll, preparedRun, type PreparedRun } from '../../store/testing/storeFixture.ts';
import { DESCRIPTION, recordOf, syntheticPlan } from '../../store/testing/syntheticRun.ts';
import { ExportSource } from '../exportSource.ts';
import { BY_ROW, cellsOf, exported as exportedFrom } from '../testing/exported.ts';
import { type Cell, readBack } from '../testing/readers.ts';
import { usedColumns } from './columns.ts';

const SAMPLES = ['gut', 'gut', 'water', 'air'];
const FILES = ['gut_1.fasta', 'gut_2.fasta', 'water.fasta', 'air.fasta'];
const DETAILS = [
  { group: 'patients', note: null, control: false },
  { group: 'patients', note: null, control: false },
  { group: null, note: null, control: true },
  { group: 'patients', note: null, control: false },
];
/** No two counts of the first sequence are equal, so that no column can stand in for another. */
const RECORDS = [
  [
    {
      ...recordOf('long one', [63, 63, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
      repeat: 37,
      lostToTag: 6,
      lostToTga: 3,
      geneticCode: 15 as const,
    },
    recordOf('read/1', [3]),
    recordOf('closed', [0]),
  ],
  [recordOf('mate', [32]), recordOf('read/2', [5])],
  [
    recordOf('drop', [12, 1]),
    // Just long enough not to be too short.
    { ...recordOf('hundred', [2]), length: 100 },
    { ...recordOf('empty', [0]), length: 0, openFrames: [] },
  ],
  [recordOf('lone', [0])],
];

let run: PreparedRun;
let all: SequenceResult[];

beforeAll(async () => {
  const inputs = syntheticPlan(4).inputs.map((input, i) => ({ ...input, path: join('/data', FILES[i]!) }));
  const trusted = {
    file: 'host.fasta',
    calibratedAt: '2026-01-01T00:00:00.000Z',
    classes: [{ from: 1, scored: 99, scores: [0.9, 0.7, 0.5, 0.3, 0.1] }],
  };
  const options = { ...DESCRIPTION.options, sampleDetails: DETAILS };
  run = await preparedRun(RECORDS, 4, { inputs, trusted }, { options });
  await computeAll(run);
  await run.store.writeTables();
  all = (await run.store.findSequences({ filter: {} }, BY_ROW, 0, 100)).items;
  const { row, seqName } = all[3]!;
  markSequence(run.folder, { row, seqName }, true);
});

afterAll(async () => {
  await run.store.close();
});

const exported = (format: string, language: 'en' | 'de' = 'en', { store } = run) =>
  exportedFrom(store, format, { language });

async function tableOf({ store }: PreparedRun, filter: SequenceFilter = {}) {
  const [names, ...lines] = cellsOf(await exportedFrom(store, 'tsv', { selection: { filter } }));
  return { names: names!, lines };
}
/** A workbook has the same columns but the model's. */
const columnsOfWorkbook = async () => (await tableOf(run)).names.filter((name) => name !== 'model');

/** All columns of our own. */
const OWN = columnsOf('exports', { isPaired: true, isCalibrated: true, looksTwice: false });

/** Columns that are not named as the field of the result is. */
const RENAMED: Record<string, (row: SequenceResult) => Cell> = {
  no: ({ row }) => row + 1,
  sample: ({ input }) => SAMPLES[input]!,
  group: ({ input }) => DETAILS[input]!.group,
  control: ({ input }) => DETAILS[input]!.control,
  input: ({ input }) => FILES[input]!,
  model: () => 'teaching (teaching model, not for research)',
  shortlist: ({ row }) => row === 3,
};

function valueOf(column: string, row: SequenceResult): Cell {
  const renamed = RENAMED[column];
  if (renamed) return renamed(row);
  const field = column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  expect(row).toHaveProperty(field);
  return row[field as keyof SequenceResult];
}

const filled = (column: string) => all.map((row) => valueOf(column, row)).find((value) => value !== null);
const SCORES = ['virus_score', 'margin', 'best_score', 'second_score', 'pair_score', 'p_value'];
const isFloat = (column: string) => [...SCORES, 'viral_fraction'].includes(column);
/** What text tables say of a column of true and false. */
const FLAG_TEXTS: Record<string, readonly [yes: string, no: string]> = {
  too_short: ['True', 'False'],
  control: ['yes', 'no'],
  shortlist: ['yes', 'NA'],
};
const asText = (column: string, value: Cell): string =>
  typeof value === 'boolean'
    ? FLAG_TEXTS[column]![value ? 0 : 1]
    : value === null
      ? 'NA'
      : typeof value === 'number' && isFloat(column)
        ? float32Text(value)
        : String(value);

describe('a table of sequences', () => {
  it('has headings in both languages, and the columns that were asked for', async () => {
    const source = await ExportSource.open(run.store, { filter: {} }, BY_ROW, { language: 'en' });
    for (const { heading } of await usedColumns(source)) expect(Object.values(heading)).not.toContain('');
    const asked = await exportedFrom(run.store, 'tsv', { columns: ['seq_name', 'shortlist'] });
    expect(cellsOf(asked)[0]).toEqual(['seq_name', 'model', 'shortlist']);
  });

  it('has in every column the value of its own field, in every format', async (context) => {
    const counts = Object.values(all[0]!).filter((value) => Number.isInteger(value) && value !== 0);
    expect(new Set(counts).size).toBe(counts.length);
    const [tsv, csv, german, parquet, xlsx] = readBack(
      context,
      ['tsv', await exported('tsv')],
      ['csv', await exported('csv')],
      ['csv_de', await exported('csv', 'de')],
      ['parquet', await exported('parquet')],
      ['xlsx', await exported('xlsx')],
    );
    const columns = Object.keys(tsv[0]!);
    expect(columns).toEqual([
      ...['no', 'seq_name', 'sample', 'group', 'control'],
      ...OWN.filter((key) => key !== 'seqName' && key !== 'settled').map(columnName),
      'shortlist',
    ]);
    const expected = all.map((row) => Object.fromEntries(columns.map((name) => [name, valueOf(name, row)])));
    const texts = expected.map((row) =>
      Object.fromEntries(columns.map((name) => [name, asText(name, row[name]!)])),
    );
    expect(tsv).toEqual(texts);
    expect(csv).toEqual(texts);
    expect(german).toEqual(
      texts.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, text]) => [name, isFloat(name) ? text.replace('.', ',') : text]),
        ),
      ),
    );
    expect(parquet.rows).toEqual(expected);
    const typeOf = (name: string): string => {
      if (isFloat(name)) return 'float';
      return { number: 'int64', boolean: 'bool' }[typeof filled(name) as string] ?? 'string';
    };
    expect(parquet.types).toEqual(Object.fromEntries(columns.map((name) => [name, typeOf(name)])));
    // A workbook has words in place of some values.
    const [headings, ...rows] = xlsx['Sequences']!;
    const shown = await columnsOfWorkbook();
    expect(new Set(headings).size).toBe(shown.length);
    const words = ['prediction', 'evidence', 'too_short', 'reason', 'pair_prediction'];
    for (const [column, name] of shown.entries()) {
      if (words.includes(name)) continue;
      for (const [i, row] of rows.entries()) {
        const cell = row[column];
        const value = expected[i]![name];
        expect(isFloat(name) && cell !== null ? Math.fround(Number(cell)) : cell, name).toBe(value);
      }
    }
    expect(rows.map((row) => row.length)).toEqual(all.map(() => shown.length));
  });

  it('names different values by different words, in both languages of a workbook', async (context) => {
    const books = readBack(context, ['xlsx', await exported('xlsx')], ['xlsx', await exported('xlsx', 'de')]);
    const shown = await columnsOfWorkbook();
    const wordsOf = (name: string) =>
      books.map((book) =>
        Object.values(book)[0]!
          .slice(1)
          .map((row) => row[shown.indexOf(name)]),
      );
    for (const name of ['prediction', 'evidence', 'too_short', 'reason', 'pair_prediction']) {
      const [english, german] = wordsOf(name);
      for (const words of [english!, german!]) {
        const pairs = new Set(all.map((row, i) => `${String(valueOf(name, row))}: ${String(words[i])}`));
        const values = new Set(all.map((row) => valueOf(name, row)));
        // Each value has one word, and no word stands for two values.
        expect(pairs.size).toBe(values.size);
        expect(new Set(words).size).toBe(values.size);
      }
    }
    // What needs no attention has no word.
    for (const [name, plain] of [
      ['reason', 'ok'],
      ['too_short', false],
      ['evidence', null],
      ['pair_prediction', null],
    ] as const)
      for (const words of wordsOf(name))
        expect(words.map((word) => word === null)).toEqual(all.map((row) => valueOf(name, row) === plain));
  });

  it('has a workbook with number formats, a frozen head, a filter, and each sample with its counts', async (context) => {
    const path = await exported('xlsx');
    const [layout, book, whole] = readBack(context, ['layout', path], ['xlsx', path], ['package', path]);
    const sheets = [1, 2, 3].map((number) => `worksheets/sheet${number}.xml`);
    const typed = [...sheets, 'styles.xml', 'workbook.xml'].map((name) => `xl/${name}`);
    expect(whole.targets).toEqual([...sheets, 'styles.xml']);
    expect(whole.parts).toEqual(
      [...typed, '[Content_Types].xml', '_rels/.rels', 'xl/_rels/workbook.xml.rels'].toSorted(),
    );
    expect(Object.keys(whole.types).toSorted()).toEqual(typed.map((name) => `/${name}`).toSorted());
    expect(new Set(sheets.map((name) => whole.types[`/xl/${name}`]))).toEqual(
      new Set(['application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml']),
    );
    const columns = await columnsOfWorkbook();
    const formatOf = (name: string, row: Cell | undefined): string => {
      if (SCORES.includes(name)) return '0.0000';
      if (name === 'viral_fraction') return '0.0%';
      return typeof row === 'number' ? '#,##0' : 'General';
    };
    expect(Object.values(layout.formats)).toEqual(columns.map((name) => formatOf(name, filled(name))));
    expect(layout).toMatchObject({ frozen: 'C2', bold: [true, false], wrapped: [true, true] });
    expect(layout.filter).toBe(layout.dimension);
    expect(layout.filter).toMatch(new RegExp(`^A1:[A-Z]+${all.length + 1}$`));
    expect(Math.min(...layout.widths)).toBeGreaterThan(5);
    expect(layout.widths.slice(0, 3)).toEqual([12, 32, 18]);
    const [headings, ...samples] = book['Samples']!;
    expect(headings).toHaveLength(10);
    const countsOf = (sample: string) => {
      const own = all.filter(({ input }) => SAMPLES[input] === sample);
      const calls = ['virus', 'others', 'not_scored', 'failed'].map(
        (call) => own.filter(({ prediction }) => prediction === call).length,
      );
      const bases = own.reduce((sum, { length }) => sum + length, 0);
      const called = calls[0]! + calls[1]!;
      // The cell of a share that does not exist is left out.
      return [own.length, bases, ...calls, ...(called === 0 ? [] : [calls[0]! / called])];
    };
    expect(samples).toEqual([
      ['gut', 'patients', null, ...countsOf('gut')],
      ['air', 'patients', null, ...countsOf('air')],
      ['water', null, 'yes', ...countsOf('water')],
    ]);
  });

  it.each<[string, SequenceFilter]>([
    ['those without a score', { predictions: ['not_scored'] }],
    ['those of one chunk', { maxLength: 500 }],
    ['one of two scored chunks', { minScoredChunks: 2, minLength: 5000 }],
    ['those with a terminal repeat', { terminalRepeat: true }],
    ['one that is just long enough', { minLength: 100, maxLength: 100 }],
    ['long ones with strong evidence, of which there are none,', { evidence: ['strong'], minLength: 600 }],
    ['all of them', {}],
  ])('leaves out exactly the columns in which %s have no value', async (_, filter) => {
    const everything = (await tableOf(run)).names;
    const { names, lines } = await tableOf(run, filter);
    const rows = all.filter(({ row }) => lines.some(([no]) => Number(no) === row + 1));
    expect(rows.length).toBe(lines.length);
    const always = ['no', 'sample', ...OWN.filter((key) => !sequenceColumn(key).needs).map(columnName)];
    // These depend on the run, not on what is selected.
    const ofRun = ['group', 'control'];
    const some = (name: string): boolean => rows.some((row) => hasValue(name, row));
    expect(names).toEqual(
      everything.filter((name) => always.includes(name) || ofRun.includes(name) || some(name)),
    );
  });

  function hasValue(name: string, row: SequenceResult): boolean {
    if (name.startsWith('n_bases')) return row.virusScore !== null;
    if (name === 'genetic_code_hint') return row.geneticCodeHint !== null;
    if (name.startsWith('pair_') || name === 'along') return row.virusScore !== null;
    const value = valueOf(name, row);
    return value !== null && value !== false;
  }
});

describe('a table of an unfinished run without samples, pairs and trusted sequences', () => {
  let unfinished: PreparedRun;

  beforeAll(async () => {
    unfinished = await preparedRun([[recordOf('whole', [63, 63]), recordOf('part', [1, 2, 4, 8])]], 8);
    const [first, second] = await unfinished.store.pendingParts();
    for (const { key } of [first!, second!])
      await compute(unfinished, key, ({ row, frame }) => (row === 0 ? 0.9 : 0.4 + 0.2 * (frame % 2)));
  });
  afterAll(() => unfinished.store.close());

  /** The names and cells after the last column of our own. */
  const afterOwn = async (filter: SequenceFilter = {}) => {
    const { names, lines } = await tableOf(unfinished, filter);
    const end = names.indexOf('along') + 1;
    return [names.slice(end), ...lines.map((cells) => cells.slice(end))];
  };

  it('says which calls may change, unless none of those selected may', async (context) => {
    const { names, lines } = await tableOf(unfinished);
    expect(names.slice(5, 10)).toEqual(['virus_score', 'prediction', 'margin', 'settled', 'evidence']);
    expect(names.slice(-2)).toEqual(['model', 'along']);
    expect(lines.map((cells) => [cells[1], cells[names.indexOf('settled')]])).toEqual([
      ['whole', 'True'],
      ['part', 'False'],
    ]);
    expect((await tableOf(unfinished, { settled: true })).names).toEqual(
      names.filter((name) => name !== 'settled'),
    );
    expect((await tableOf(unfinished, { settled: false })).names).toEqual(names);
    const books = readBack(
      context,
      ['xlsx', await exported('xlsx', 'en', unfinished)],
      ['xlsx', await exported('xlsx', 'de', unfinished)],
    );
    const words = books.map((book) => Object.values(book)[0]!.map((row) => row[names.indexOf('settled')]));
    expect(words.map((column) => column.slice(1))).toEqual([
      ['final', 'may change'],
      ['endgültig', 'kann sich ändern'],
    ]);
  });

  it('says which samples are controls, even if they have no groups', async () => {
    const store = {
      ...unfinished.store,
      loadRun: async () => {
        const stored = await unfinished.store.loadRun();
        const options = { sampleDetails: [{ group: null, note: null, control: true }] };
        return { ...stored, description: { ...stored.description, options } };
      },
    };
    const { names, lines } = await tableOf({ ...unfinished, store });
    expect(names.slice(2, 5)).toEqual(['sample', 'control', 'input']);
    expect(lines.map((cells) => cells[3])).toEqual(['yes', 'yes']);
  });

  it('ends in the shortlist, if a selected sequence is on it', async () => {
    const part = { row: 1, seqName: 'part' };
    markSequence(unfinished.folder, part, true);
    expect(await afterOwn()).toEqual([['shortlist'], ['NA'], ['yes']]);
    expect(await afterOwn({ settled: true })).toEqual([[], []]);
    markSequence(unfinished.folder, part, false);
  });
});
