import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESULT_FILES } from '../../contract/results.ts';
import { predict } from '../run/testing/realRuns.ts';
import { openRunStore, type RunStore } from '../store/runStore.ts';
import { HOST_ENTRY } from '../store/testing/storeFixture.ts';
import { temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { EXPORT_FORMATS, queryRun } from './exportResults.ts';
import { exported } from './testing/exported.ts';
import { readBack } from './testing/readers.ts';

/** Header lines in Latin-1, as bytes, and the one name that each record must have wherever it is named. */
const RECORDS: readonly (readonly [header: string, name: string])[] = [
  ['\xe9chantillon_1 eau de la rivi\xe8re', 'échantillon_1'],
  ['', 'unnamed_2'],
  [' \t \xc2\xa0', 'unnamed_3'],
  ['  indented name', 'indented'],
  ['control\x01sign and\x1b[2Janother', String.raw`control\u0001sign`],
  ['s\xc2\xa01', 's'],
  ['ideographic\xe3\x80\x80space', 'ideographic'],
  ['left\xe2\x80\xaeright', String.raw`left\u202eright`],
  ['\xce\xb2|\xf0\x9f\xa6\xa0', 'β|🦠'],
  ['NA', 'NA'],
  ['nan the second', 'nan'],
  ['"', '"'],
  ['plain\twith a tabulator', 'plain'],
];
const NAMES = RECORDS.map(([, name]) => name);
/** The teaching model calls these bases a virus, so that no file leaves a record out. */
const VIRAL = 'GAA'.repeat(50);
const MARK = '[teaching model, not for research]';

const cells = (text: string, column: number): string[] =>
  text
    .trimEnd()
    .split('\n')
    .flatMap((line) => (/^#|^track/.test(line) ? [] : [line.split('\t')[column]!]));
const once = (names: readonly string[]): string[] => [...new Set(names)];
const headersIn = (fasta: string): string[] => (fasta.match(/^>.*$/gm) ?? []).map((line) => line.slice(1));
/** The word that other programs read as the name. */
const wordsIn = (fasta: string, word = 0): string[] =>
  headersIn(fasta).map((header) => header.split(/[ \t]/)[word]!);
const withoutChunk = (ids: readonly string[]): string[] =>
  ids.map((id) => id.replace(/_chunk_1(\w\d)?$/, ''));

describe.skipIf(WITHOUT_PYTHON)('a name that is not plain text, or missing', () => {
  let folder: string;
  let store: RunStore;
  beforeAll(async () => {
    const input = join(temporaryFolder(), 'names.fa');
    const text = RECORDS.map(([header]) => `>${header}\n${VIRAL}\n`).join('');
    writeFileSync(input, text, 'latin1');
    const outcome = await predict(testContext(), { inputs: [input] });
    expect(outcome.state).toMatchObject({ phase: 'done', failedRecords: 0 });
    folder = outcome.folder;
    store = await openRunStore(folder, { hostEntry: HOST_ENTRY });
  });
  afterAll(() => store.close());

  const written = (name: string): string => readFileSync(join(folder, name), 'utf8');

  it('is spelled alike in every table and file of a run', async () => {
    expect(cells(written(RESULT_FILES.sequences), 0).slice(1)).toEqual(NAMES);
    expect(cells(written(RESULT_FILES.chunks), 0).slice(1)).toEqual(NAMES);
    expect(once(withoutChunk(cells(written(RESULT_FILES.originalFrames), 0).slice(1)))).toEqual(NAMES);
    expect(withoutChunk(cells(written(RESULT_FILES.originalChunks), 0).slice(1)).sort()).toEqual(
      NAMES.toSorted(),
    );
    const viral = written(RESULT_FILES.viralSequences);
    expect(wordsIn(viral)).toEqual(NAMES);
    for (const table of ['sequences', 'chunks']) {
      const answer = await queryRun(store, `SELECT seq_name FROM ${table} ORDER BY row`, []);
      expect(answer.rows.flat()).toEqual(NAMES);
    }
    const headers = (await store.sequencesOf(Uint32Array.from(NAMES.keys()))).map(({ header }) => header);
    expect(headersIn(viral)).toEqual(headers.map((header) => `${header} ${MARK}`));
  });

  it('is spelled alike in every export, and in what the window copies', async (context) => {
    const named: Record<string, string> = {};
    const paths: Record<string, string> = {};
    for (const { id } of EXPORT_FORMATS.filter((format) => !format.needsEmbeddings)) {
      paths[id] = await exported(store, id);
      named[id] = readFileSync(paths[id], 'utf8');
    }
    const nameCells = (id: string): string[] => {
      const heading = named[id]!.split('\n')[0]!.split('\t');
      return cells(named[id]!, heading.indexOf('seq_name')).slice(1);
    };
    expect(nameCells('tsv')).toEqual(NAMES);
    expect(wordsIn(named['fasta']!)).toEqual(NAMES);
    expect(wordsIn(named['checkv']!, 1)).toEqual(NAMES);
    expect(new Set(wordsIn(named['checkv']!)).size).toBe(NAMES.length);
    expect(withoutChunk(wordsIn(named['proteins']!))).toEqual(NAMES);
    expect(cells(named['bed']!, 0)).toEqual(NAMES);
    const attributes = [...named['gff3']!.matchAll(/\tID=seq\d+;Name=([^;\n]*)/g)];
    expect(attributes.map(([, name]) => decodeURIComponent(name!))).toEqual(NAMES);

    const [csv, parquet, xlsx] = readBack(
      context,
      ['csv', paths['csv']!],
      ['parquet', paths['parquet']!],
      ['xlsx', paths['xlsx']!],
    );
    expect(csv.map(({ seq_name }) => seq_name)).toEqual(NAMES);
    expect(parquet.rows.map(({ seq_name }) => seq_name)).toEqual(NAMES);
    expect(xlsx['Sequences']!.slice(1).map(([, name]) => name)).toEqual(NAMES);
  });

  it('is the same in viral_sequences.fna if whole header lines are the names', async () => {
    const input = join(temporaryFolder(), 'repeated.fa');
    writeFileSync(input, ['seq 1', 'seq 2', ''].map((header) => `>${header}\n${VIRAL}\n`).join(''));
    const { tables } = await predict(testContext(), { inputs: [input], repairs: ['whole_headers_as_names'] });
    const names = ['seq_1', 'seq_2', 'unnamed_3'];
    expect(cells(tables[RESULT_FILES.sequences]!, 0).slice(1)).toEqual(names);
    expect(wordsIn(tables[RESULT_FILES.viralSequences]!)).toEqual(names);
  });
});
