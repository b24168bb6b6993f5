import type { SequenceResult, SequenceSort } from '../../contract/columns.ts';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { appError, AppFailure } from '../../contract/errors.ts';
import { exportFileName } from '../../contract/exports.ts';
import { RESULT_FILES, FRAME_NAMES } from '../../contract/results.ts';
import type { SequenceFilter } from '../../contract/rpc/results.ts';
import { float32Text } from '../results/cellText.ts';
import { computeAll, preparedRun, type PreparedRun } from '../store/testing/storeFixture.ts';
import { recordOf } from '../store/testing/syntheticRun.ts';
import { testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { usedColumns, type Column } from './table/columns.ts';
import { formatNamed, type ExportRequest } from './exportResults.ts';
import { ExportSource } from './exportSource.ts';
import { openFewSequences } from './inputSequences.ts';
import { lettersOfOne } from './sequenceFiles.ts';
import { BY_ROW, cellsOf, exported as exportedFrom } from './testing/exported.ts';
import { readBack } from './testing/readers.ts';
import { WholeFile } from './wholeFile.ts';
import { writeXlsx } from './table/xlsx.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';
const BEST: SequenceSort = { by: 'virusScore', descending: true };
const MARK = '[teaching model, not for research]';

/** Names that cause problems in spreadsheets, XML and GFF3. */
const NAMES = ['=HYPERLINK("x")', 'contig<1>&co', 'naïve|β;=%', 'plain', 'closed', 'long', 'last'];
const CHUNKS = [[1, 2], [63], [9, 0, 36], [32], [0], [1, 2, 4, 8, 16, 32], [5, 5]];

function lettersFor(length: number, seed: number): string {
  let state = seed + 1;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return 'ACGTacgtN'[(state >>> 16) % 9]!;
  }).join('');
}

let run: PreparedRun;
let inputs: string[];
let all: SequenceResult[];

beforeAll(async () => {
  const folder = temporaryFolder();
  const records = NAMES.map((name, i) => recordOf(`${name} described as ${i}`, CHUNKS[i]!));
  const split = [records.slice(0, 4), records.slice(4)];
  inputs = split.map((own, input) => {
    const path = join(folder, `gut_${input + 1}.fasta`);
    const text = own.map(({ header, length }, i) => `>${header}\n${lettersFor(length, 10 * input + i)}\n`);
    writeFileSync(path, text.join(''));
    return path;
  });
  const files = inputs.map((path) => ({ path, sizeBytes: statSync(path).size, sha256: sha256(path) }));
  run = await preparedRun(split, 4, { inputs: files, embeddings: 'fp16' });
  await computeAll(run);
  await run.store.writeTables();
  all = (await run.store.findSequences({ filter: {} }, BY_ROW, 0, 100)).items;
});

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

const exported = (
  format: string,
  filter: SequenceFilter = {},
  sort: SequenceSort = BY_ROW,
  more: Partial<ExportRequest> = {},
) => exportedFrom(run.store, format, { selection: { filter }, sort, ...more });

const chunksOfAll = () =>
  Promise.all(all.map(async ({ row }) => (await run.store.chunksOf(row, 0, 99)).chunks));
const best = () => all.toSorted((a, b) => (b.virusScore ?? -1) - (a.virusScore ?? -1) || a.row - b.row);

describe('tables read back by other programs', () => {
  it('hold the selection in the order shown, in every format', async (context) => {
    const filter: SequenceFilter = { predictions: ['virus', 'others'] };
    const [tsv, csv, parquet, xlsx] = readBack(
      context,
      ['tsv', await exported('tsv', filter, BEST)],
      ['csv', await exported('csv', filter, BEST)],
      ['parquet', await exported('parquet', filter, BEST)],
      ['xlsx', await exported('xlsx', filter, BEST)],
    );
    const wanted = best().filter(({ virusScore }) => virusScore !== null);
    const numbers = wanted.map(({ row }) => row + 1);
    expect(tsv.map(({ no }) => Number(no))).toEqual(numbers);
    expect(csv.map(({ no }) => Number(no))).toEqual(numbers);
    expect(parquet.rows.map(({ no }) => no)).toEqual(numbers);
    expect(parquet.metadata['virnucpro.notice']).toBe('teaching model, not for research');
    expect(csv.find(({ no }) => no === '1')?.['seq_name']).toBe(`'=HYPERLINK("x")`);
    const [heading, ...rows] = xlsx['Sequences']!;
    expect(heading!.slice(0, 5)).toEqual(['No.', 'Name', 'Sample', 'File', 'Length (bp)']);
    expect(rows.map((row) => row[0])).toEqual(numbers);
    // This is text and not a formula, whatever it begins with.
    expect(rows.find((row) => row[0] === 1)?.[1]).toBe('=HYPERLINK("x")');
    expect(rows.find((row) => row[0] === 2)?.[1]).toBe('contig<1>&co');
    const [headings, ...samples] = xlsx['Samples']!;
    expect(samples.reduce((sum, row) => sum + Number(row[headings!.indexOf('Sequences')]), 0)).toBe(
      all.length,
    );
    expect(xlsx['About']!.flat()).toContain(MARK);
  });

  it('have no heading twice, and no column that was not asked for but the mark of the model', async () => {
    const source = await ExportSource.open(run.store, { filter: {} }, BY_ROW, { language: 'en' });
    const headings = (await usedColumns(source)).map(({ heading }) => heading);
    for (const language of ['en', 'de'] as const)
      expect(new Set(headings.map((heading) => heading[language])).size).toBe(headings.length);
    const path = await exported('tsv', {}, BY_ROW, { columns: ['seq_name', 'length'] });
    expect(cellsOf(path)[0]).toEqual(['seq_name', 'length', 'model']);
  });

  it('continue on further sheets of a workbook', async (context) => {
    const selection = { filter: {} };
    const source = await ExportSource.open(run.store, selection, BY_ROW, { language: 'en' });
    const path = join(temporaryFolder(), 'sheets.xlsx');
    // A cell holds only so much text.
    const long = (row: number) => 'a'.repeat(31_999 + row);
    const [no, name] = (await usedColumns(source)) as [Column, Column];
    const columns = [no, { ...name, sql: `repeat('a', 31999 + row)` }];
    await WholeFile.write(path, (file) => writeXlsx(source, columns, file, 3));
    const [sheets] = readBack(context, ['xlsx', path]);
    expect(Object.keys(sheets)).toEqual(['Sequences 1', 'Sequences 2', 'Sequences 3', 'Samples', 'About']);
    const numbers = Object.values(sheets)
      .slice(0, 3)
      .map((rows) => rows.slice(1).map((row) => row[0]));
    expect(numbers).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
    expect(sheets['Sequences 1']!.slice(1).map((row) => row[1])).toEqual([long(0), long(1), `${long(1)}…`]);
  });

  it('are files for genome browsers', async (context) => {
    const [gff3, bed] = readBack(context, ['gff3', await exported('gff3')], ['bed', await exported('bed')]);
    const chunks = await chunksOfAll();
    const scored = chunks.flatMap((own, row) =>
      own.flatMap((chunk, i) => (chunk.score2 === null ? [] : [{ row, number: i + 1, ...chunk }])),
    );
    const strandOf = (frame: string | null) => (frame!.startsWith('F') ? '+' : '-');
    const regions = gff3.filter(({ parents }) => parents.length === 0);
    expect(regions.map(({ attributes }) => attributes['Name'])).toEqual(NAMES);
    expect(regions.map(({ start, end }) => [start, end])).toEqual(all.map(({ length }) => [1, length]));
    expect(regions.map(({ score, attributes }) => ({ score, ...attributes }))).toEqual(
      all.map((one) => ({
        score: one.virusScore === null ? '.' : float32Text(one.virusScore),
        ID: `seq${one.row + 1}`,
        Name: one.seqName,
        call: one.prediction,
        ...(one.evidence !== null && { evidence: one.evidence }),
        chunks_scored: `${one.nChunksScored}`,
        chunks_viral: `${one.nChunksViral}`,
      })),
    );
    const parts = gff3.filter(({ parents }) => parents.length > 0);
    expect(
      parts.map(({ start, end, score, strand, attributes }) => [start, end, score, strand, attributes]),
    ).toEqual(
      scored.map(({ row, number, start, end, bestFrame, virusScore, score1, isVirus }) => [
        start,
        end,
        float32Text(virusScore!),
        strandOf(bestFrame),
        {
          ID: `seq${row + 1}.${number}`,
          Parent: `seq${row + 1}`,
          Name: `chunk_${number}${bestFrame}`,
          call: isVirus ? 'virus' : 'others',
          frame: bestFrame,
          score_other: float32Text(score1!),
        },
      ]),
    );
    expect(bed).toEqual(
      scored
        .filter(({ isVirus }) => isVirus)
        .map(({ row, number, start, end, bestFrame, virusScore }) => [
          NAMES[row],
          `${start - 1}`,
          `${end}`,
          `chunk_${number}${bestFrame}`,
          `${Math.round(1000 * virusScore!)}`,
          strandOf(bestFrame),
        ]),
    );
  });

  it("count for MultiQC the calls of each sample's sequences", async () => {
    const content = JSON.parse(readFileSync(await exported('multiqc'), 'utf8')) as {
      data: Record<string, Record<string, number>>;
      description: string;
    };
    expect(content.description).toContain(MARK);
    // The two files are the mates of one sample.
    const count = (call: string) => all.filter(({ prediction }) => prediction === call).length;
    expect(content.data).toEqual({
      gut: {
        virus: count('virus'),
        others: count('others'),
        not_scored: count('not_scored'),
        failed: count('failed'),
      },
    });
  });
});

it('names that several sequences have stand for one region in GFF3', async () => {
  const odd = await preparedRun([['twin', 'twin', 'naïve|β'].map((name) => recordOf(name, [63, 63]))]);
  onTestFinished(() => odd.store.close());
  await computeAll(odd);
  const regions =
    readFileSync(await exportedFrom(odd.store, 'gff3'), 'utf8').match(/^##sequence-region \S+/gm) ?? [];
  expect(regions).toHaveLength(2);
  expect(new Set(regions).size).toBe(2);
});

describe('the index of the embeddings', () => {
  it('names the frame of every row of every file, in the order in which prepare wrote them', async () => {
    const [head, ...rows] = cellsOf(await exported('embeddings', { predictions: ['virus'] }));
    expect(head).toEqual(['file', 'row', 'no', 'id', 'sample', 'start', 'end', 'frame']);
    const chunks = await chunksOfAll();
    const truth = [...run.prepared.frames].flatMap(([key, frames]) =>
      frames.map(({ row, chunk, frame }, place) => {
        const { start, end } = chunks[row]![chunk]!;
        const cells = [`embeddings/${key}.safetensors`, place, row + 1, NAMES[row], 'gut', start, end];
        return [...cells.map(String), FRAME_NAMES[frame]];
      }),
    );
    expect(rows).toEqual(truth);
  });
});

describe.skipIf(WITHOUT_PYTHON)('sequences', () => {
  const letters = (row: number) => {
    const text = readFileSync(inputs[row < 4 ? 0 : 1]!, 'utf8').split(/^>/m)[1 + (row < 4 ? row : row - 4)]!;
    return text.split('\n').slice(1).join('');
  };

  it('keep their headers and the order shown', async (context) => {
    const [records] = readBack(context, ['fasta', await exported('fasta', {}, BEST)]);
    expect(records).toEqual(best().map(({ row, header }) => [`${header} ${MARK}`, letters(row)]));
  });

  it('have names for CheckV that no other has, before their own headers', async (context) => {
    const [records] = readBack(context, ['fasta', await exported('checkv', {}, BEST)]);
    expect(records.map(([, own]) => own)).toEqual(best().map(({ row }) => letters(row)));
    expect(records.map(([header]) => header.split(' ')[0])).toEqual(
      best().map(({ row, seqName }) => `row${row + 1}_${seqName.replace('ï', '_').replace('β', '_')}`),
    );
    expect(records.map(([header]) => header.slice(header.indexOf(' ') + 1))).toEqual(
      best().map(({ header }) => `${header} ${MARK}`),
    );
  });

  it("come with the protein of the deciding frame, translated by the method's rules", async (context) => {
    const [proteins] = readBack(context, ['fasta', await exported('proteins')]);
    const scored = all.filter(({ bestFrame }) => bestFrame !== null);
    expect(proteins).toHaveLength(scored.length);
    for (const [i, { row, seqName, bestChunkStart, bestChunkEnd, bestFrame }] of scored.entries()) {
      const [header, protein] = proteins[i]!;
      const { chunks } = await run.store.chunksOf(row, 0, 99);
      const chunk = chunks.find(({ start }) => start === bestChunkStart);
      const own = chunk?.frames.find(({ frame }) => frame === bestFrame);
      expect(Math.fround(Number(/ score=(\S+)/.exec(header)?.[1]))).toBe(own?.score2);
      expect(header.startsWith(`${seqName}_chunk_`)).toBe(true);
      expect(header).toContain(`chunk=${bestChunkStart}-${bestChunkEnd} frame=${bestFrame} `);
      expect(header.endsWith(MARK)).toBe(true);
      expect(protein).toBe(naiveProtein(letters(row).slice(bestChunkStart! - 1, bestChunkEnd!), bestFrame!));
    }
  });

  it("come from the run's own file if an input has moved, or else the error names that input", async () => {
    const viral: SequenceFilter = { predictions: ['virus'] };
    const before = readFileSync(await exported('fasta', viral), 'utf8');
    const own = join(run.folder, RESULT_FILES.viralSequences);
    writeFileSync(own, before);
    const written = { bytes: statSync(own).size, sha256: sha256(own) };
    await run.store.saveResultFiles({ [RESULT_FILES.viralSequences]: written });
    const { state } = await run.store.loadRun();
    await run.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
    renameSync(inputs[1]!, `${inputs[1]!}.away`);
    try {
      expect(readFileSync(await exported('fasta', viral, BY_ROW), 'utf8')).toBe(before);
      const refusal = await exported('fasta').catch((reason: unknown) => reason);
      expect(refusal).toBeInstanceOf(AppFailure);
      expect((refusal as AppFailure).error.cause).toContain('gut_2.fasta');
      expect((refusal as AppFailure).error.nextStep).toContain('viral_sequences.fna');
      // A sequence in that file is found without the input, and without Python.
      const viralRow = all.find(({ row, prediction }) => row >= 4 && prediction === 'virus')!;
      const { record } = await lettersOf(viralRow.row, noPython);
      expect(record.toString()).toContain(`>${viralRow.header} ${MARK}`);
      expect(before).toContain(record.toString());
      // Neither is a file used that somebody has changed, nor one that may be older than the calls.
      const lost = { error: { code: 'input_unreadable' } };
      writeFileSync(own, before.replace('A', 'C'));
      await expect(exported('fasta', viral)).rejects.toMatchObject(lost);
      writeFileSync(own, before);
      await run.store.setState({ phase: 'paused', error: null });
      await expect(exported('fasta', viral)).rejects.toMatchObject(lost);
    } finally {
      renameSync(`${inputs[1]!}.away`, inputs[1]!);
      await run.store.setState(state);
    }
  });

  it('are not taken from an input that was changed after the run', async () => {
    const before = readFileSync(inputs[0]!, 'utf8');
    writeFileSync(inputs[0]!, before.replace(/A/, 'C'));
    try {
      await expect(exported('fasta')).rejects.toMatchObject({ error: { code: 'input_changed' } });
    } finally {
      writeFileSync(inputs[0]!, before);
    }
  });

  it('of one row come with its protein, as in the exports', async () => {
    const { row, header, bestFrame, bestChunkStart, bestChunkEnd } = all.findLast(
      ({ bestFrame: frame, prediction }) => frame !== null && prediction !== 'virus',
    )!;
    const { record, protein } = await lettersOf(row);
    expect(record.toString()).toBe(`>${header} ${MARK}\n${wrapped(letters(row))}`);
    const [about, ...lines] = protein!.trimEnd().split('\n');
    expect(about).toContain(`chunk=${bestChunkStart}-${bestChunkEnd} frame=${bestFrame} `);
    expect(lines.join('')).toBe(
      naiveProtein(letters(row).slice(bestChunkStart! - 1, bestChunkEnd!), bestFrame!),
    );
    await expect(lettersOf(99)).rejects.toMatchObject({ error: { code: 'usage' } });
  });

  const noPython = () => Promise.reject(new Error('There is no Python here.'));
  const wrapped = (text: string) => text.replaceAll(/.{1,80}/g, '$&\n');

  async function lettersOf(row: number, environment = () => Promise.resolve(testContext().environment)) {
    const selection = { filter: {}, rows: [row] };
    const source = await ExportSource.open(run.store, selection, BY_ROW, { language: 'en' });
    const sequences = await openFewSequences(source, selection, environment);
    try {
      return await lettersOfOne(source, sequences);
    } finally {
      await sequences.close();
    }
  }
});

describe('an export', () => {
  it('leaves nothing behind when it is cancelled, and reports its progress', async () => {
    const folder = temporaryFolder();
    const cancel = new AbortController();
    const seen: number[] = [];
    const writing = exported('tsv', {}, BY_ROW, {
      path: join(folder, 'x.tsv'),
      signal: cancel.signal,
      onProgress: ({ done, total }) => {
        seen.push(done, total);
        cancel.abort();
      },
    });
    await expect(writing).rejects.toThrow('abort');
    expect(seen).toEqual([0, NAMES.length]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('leaves an earlier file unchanged when it fails', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'x.tsv');
    writeFileSync(path, 'earlier');
    const failing = WholeFile.write(path, async (file) => {
      await file.write('half');
      throw new Error('no more');
    });
    await expect(failing).rejects.toThrow('no more');
    expect(readdirSync(folder)).toEqual(['x.tsv']);
    expect(readFileSync(path, 'utf8')).toBe('earlier');
  });

  it('removes only what an earlier export to the same place left when it was killed', async () => {
    const folder = temporaryFolder();
    const { pid } = spawnSync(process.execPath, ['--version']);
    const kept = ['x.tsv.notes.tmp', `y.tsv.${pid}-0123abcd.tmp`, `x.tsv.${process.pid}-0123abcd.tmp`];
    for (const name of [...kept, `x.tsv.${pid}-0123abcd.tmp`]) writeFileSync(join(folder, name), 'half');
    mkdirSync(join(folder, `x.tsv.${pid}-4567abcd.tmp`));
    writeFileSync(join(folder, `x.tsv.${pid}-4567abcd.tmp`, 'sequences.fna'), 'half');
    await WholeFile.write(join(folder, 'x.tsv'), (file) => file.write('whole'));
    expect(readdirSync(folder).toSorted()).toEqual([...kept, 'x.tsv'].toSorted());
  });

  it('names its own folder if the disk is full while sequences are extracted from the inputs', async () => {
    const path = join(temporaryFolder(), 'x.fna');
    const full = new AppFailure(appError('disk_full', 'There is no space left for the run.'));
    const store = { ...run.store, writeSelectedRows: () => Promise.reject(full) };
    const refusal = await exportedFrom(store, 'fasta', { path }).catch((reason: unknown) => reason);
    expect((refusal as AppFailure).error).toMatchObject({
      code: 'disk_full',
      wording: { cause: { values: { path } } },
    });
    expect((refusal as AppFailure).error.nextStep).not.toContain('resume');
  });

  it('names a folder that cannot be written to', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'taken'));
    const refusal = await exported('tsv', {}, BY_ROW, { path: join(folder, 'taken') }).catch(
      (reason: unknown) => reason,
    );
    expect((refusal as AppFailure).error).toMatchObject({ code: 'folder_unwritable' });
    expect(readdirSync(folder)).toEqual(['taken']);
  });
});

/**
 * Derives the protein differently from `translate`: by arithmetic on the standard table in the order A, C, G,
 * T.
 */
function naiveProtein(chunk: string, frame: string): string {
  const table = 'KNKNTTTTRSRSIIMIQHQHPPPPRRRRLLLLEDEDAAAAGGGGVVVV*Y*YSSSS*CWCLFLF';
  const pairs: Record<string, string> = { A: 'T', T: 'A', C: 'G', G: 'C' };
  const letters = Array.from(chunk.toUpperCase());
  const strand = frame.startsWith('F')
    ? letters
    : letters.toReversed().map((letter) => pairs[letter] ?? letter);
  let protein = '';
  for (let i = Number(frame[1]) - 1; i + 3 <= strand.length; i += 3) {
    const places = strand.slice(i, i + 3).map((letter) => 'ACGT'.indexOf(letter));
    if (!places.includes(-1)) protein += table[places.reduce((sum, place) => 4 * sum + place, 0)]!;
  }
  return protein;
}

it('the report has the versions of run.json', async () => {
  const path = join(run.folder, RESULT_FILES.run);
  onTestFinished(() => rmSync(path));
  writeFileSync(path, JSON.stringify({ versions: { app: '0.1.0', torch: '9.8.7', python: null } }));
  expect(readFileSync(await exported('report'), 'utf8')).toContain('(PyTorch 9.8.7)');
});

it.for([
  [true, 'gut_provisional_all_7.tsv', { phase: 'paused', error: null }],
  [false, 'gut_all_7.tsv', { phase: 'done', failedParts: 0, failedRecords: 0 }],
] as const)(
  'an export is marked in its name and content (%s) until the run is done',
  async ([isMarked, name, state], context) => {
    const before = (await run.store.loadRun()).state;
    await run.store.setState(state);
    onTestFinished(() => run.store.setState(before));
    const named = { runName: 'gut', model: { notice: null }, format: formatNamed('tsv'), state };
    expect(exportFileName({ ...named, scope: 'all', sequences: 7 })).toBe(name);
    for (const format of ['multiqc', 'report'])
      expect(
        /Provisional: th(e|is) run was not done\./.test(readFileSync(await exported(format), 'utf8')),
      ).toBe(isMarked);
    const sheets = JSON.stringify(readBack(context, ['xlsx', await exported('xlsx')]));
    expect(sheets.includes('The run was not done when this was exported')).toBe(isMarked);
  },
);
