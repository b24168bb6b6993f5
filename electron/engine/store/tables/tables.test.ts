import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOTICE_FILE, RESULT_FILES, TEXT_TABLES } from '../../../contract/results.ts';
import { runRequestSchema } from '../../../contract/rpc/runs.ts';
import { exportResults } from '../../exports/exportResults.ts';
import { writeNoticeFile, writeViralSequences } from '../../run/finish/finishRun.ts';
import { isOurName } from '../../../contract/folderNames.ts';
import { type FrameRef, recordOf, syntheticPlan } from '../testing/syntheticRun.ts';
import { begin, compute, computeAll, preparedRun, type PreparedRun } from '../testing/storeFixture.ts';
const MODEL = 'teaching (teaching model, not for research)';
const PLAN_MODEL = syntheticPlan(1).model;
const F1 = 1;
const F2_R3 = 0b100010;

function scoresBy(table: Record<string, number>) {
  return ({ row, chunk, frame }: FrameRef) => table[`${row}.${chunk}.${frame}`] ?? 0.5;
}

const tablesOf = (run: PreparedRun) => (name: keyof typeof RESULT_FILES) =>
  readFileSync(join(run.folder, RESULT_FILES[name]), 'utf8');

describe('result tables', () => {
  it('equal hand-written ones', async () => {
    const run = await preparedRun(
      [
        [
          { ...recordOf('contig1 sample one', [F1, 0, F2_R3]), repeat: 55, lostToTag: 1 }, // 1493 bases: chunks at 0, 497, 994
          { header: 'short', length: 0, openFrames: [], fault: 'empty' },
          recordOf('closed\tframe', [0]),
        ],
        [
          recordOf('contig1 again', [F2_R3]),
          { header: 'torn', length: 7, openFrames: [], fault: 'malformed_record' },
        ],
      ],
      2,
    );
    const score = scoresBy({ '0.0.0': 0.75, '0.2.1': 0.25, '0.2.5': 0.125, '3.0.1': 0.0625, '3.0.5': 1 });
    await computeAll(run, score);
    const damage = { type: 'input_problem', input: 1, values: {} } as const;
    const examples = [{ row: 4, name: '', detail: "'>' in line 3,\tat letter 5" }];
    await run.store.addInputProblem({ ...damage, code: 'malformed_record', count: 1, examples });
    const stretch = [{ row: 5, name: 'line 9', detail: '2 lines, 30 bytes' }];
    await run.store.addInputProblem({ ...damage, code: 'passed_over', count: 2, examples: stretch });
    const written = await run.store.writeTables();
    expect(written.counts.byPrediction).toMatchObject({ virus: 1, others: 1 });
    await run.store.close();

    const table = tablesOf(run);
    expect(table('originalFrames')).toBe(
      [
        'Sequence_ID\tPrediction\tscore1\tscore2',
        'contig1_chunk_1F1\tvirus\t0.25\t0.75',
        'contig1_chunk_3F2\tothers\t0.75\t0.25',
        'contig1_chunk_3R3\tothers\t0.875\t0.125',
        'contig1_chunk_1F2\tothers\t0.9375\t0.0625',
        'contig1_chunk_1R3\tvirus\t0.0\t1.0',
        '',
      ].join('\n'),
    );
    // Sorted by id; both records are called contig1, and both keep their rows.
    expect(table('originalChunks')).toBe(
      [
        'Modified_ID\tIs_Virus',
        'contig1_chunk_1\tTrue',
        'contig1_chunk_1\tTrue',
        'contig1_chunk_3\tFalse',
        '',
      ].join('\n'),
    );
    expect(table('chunks')).toBe(
      [
        'seq_name\trow\tchunk\tstart\tend\tn_frames\tbest_frame\tscore1\tscore2\tvirus_score\tis_virus\treason\tmodel',
        `contig1\t0\t1\t1\t500\t1\tF1\t0.25\t0.75\t0.75\tTrue\tok\t${MODEL}`,
        `contig1\t0\t2\t498\t997\t0\tNA\tNA\tNA\tNA\tNA\tno_open_frame\t${MODEL}`,
        `contig1\t0\t3\t995\t1493\t2\tR3\t0.875\t0.25\t0.125\tFalse\tok\t${MODEL}`,
        `closed\t2\t1\t1\t500\t0\tNA\tNA\tNA\tNA\tNA\tno_open_frame\t${MODEL}`,
        `contig1\t3\t1\t1\t500\t2\tR3\t0.9375\t1.0\t1.0\tTrue\tok\t${MODEL}`,
        '',
      ].join('\n'),
    );
    expect(table('sequences')).toBe(
      [
        'seq_name\tinput\trow\tlength\ttoo_short\tvirus_score\tprediction\treason\tn_chunks\tn_chunks_scored\tn_chunks_viral\t' +
          'viral_fraction\tn_bases_scored\tn_bases_viral\tbest_chunk_start\tbest_chunk_end\tbest_frame\tn_frames_scored\t' +
          'terminal_repeat\tterminal_repeat_length\tn_chunks_lost\tn_chunks_lost_to_tag\tn_chunks_lost_to_tga\tgenetic_code_hint\tmodel',
        `contig1\treads_0.fasta\t0\t1493\tFalse\t0.4378128\tothers\tok\t3\t2\t1\t0.5\t999\t500\t1\t500\tF1\t3\tDTR\t55\t1\t1\t0\tNA\t${MODEL}`,
        `short\treads_0.fasta\t1\t0\tTrue\tNA\tnot_scored\tempty\t0\t0\t0\tNA\t0\t0\tNA\tNA\tNA\t0\tNA\tNA\t0\t0\t0\tNA\t${MODEL}`,
        `closed\treads_0.fasta\t2\t500\tFalse\tNA\tnot_scored\tno_open_frame\t1\t0\t0\tNA\t0\t0\tNA\tNA\tNA\t0\tNA\tNA\t1\t0\t0\tNA\t${MODEL}`,
        `contig1\treads_1.fasta\t3\t500\tFalse\t1.0\tvirus\tok\t1\t1\t1\t1.0\t500\t500\t1\t500\tR3\t2\tNA\tNA\t0\t0\t0\tNA\t${MODEL}`,
        `torn\treads_1.fasta\t4\t7\tTrue\tNA\tnot_scored\tmalformed_record\t0\t0\t0\tNA\t0\t0\tNA\tNA\tNA\t0\tNA\tNA\t0\t0\t0\tNA\t${MODEL}`,
        '',
      ].join('\n'),
    );
    expect(table('failedFiles')).toBe('');
    expect(table('failedRecords')).toBe(
      [
        'seq_name\tinput\trow\tlength\treason\tparts\terror',
        "torn\treads_1.fasta\t4\t7\tmalformed_record\tNA\t'>' in line 3, at letter 5",
        'NA\treads_1.fasta\tNA\tNA\tpassed_over\tNA\tline 9: 2 lines, 30 bytes',
        '',
      ].join('\n'),
    );
    expect(written.counts).toMatchObject({
      records: 5,
      chunks: 5,
      chunksScored: 3,
      chunksViral: 2,
      framesScored: 5,
      byPrediction: { virus: 1, others: 1, not_scored: 3, failed: 0 },
      byReason: { ok: 2, empty: 1, no_open_frame: 1, malformed_record: 1 },
    });
    expect(readdirSync(run.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('say of a run with two chunk lengths which one judged, and give the original tool only its own frames', async () => {
    const F1a_R1b = (1 << 6) | (1 << 15);
    const run = await preparedRun([[recordOf('both', [F1, F1a_R1b, 0])]], 2, {
      model: { notice: null },
      secondLook: { chunkLength: 300 },
    });
    const score = scoresBy({ '0.0.0': 0.25, '0.1.6': 0.125, '0.1.15': 0.9375 });
    await computeAll(run, score);
    await run.store.writeTables();
    const [own] = await run.store.sequencesOf(Uint32Array.of(0));
    const chunks = await run.store.chunksOf(0, 0, 10);
    // 25 and 94 %, the latter of the second look.
    expect(await run.store.ribbonsOf([{ row: 0, nChunks: 3 }])).toEqual([[-25, 1094, 0]]);
    await run.store.close();
    const rows = (name: keyof typeof RESULT_FILES) => tablesOf(run)(name).trimEnd().split('\n').slice(1);
    expect(rows('originalFrames')).toEqual(['both_chunk_1F1\tothers\t0.75\t0.25']);
    expect(rows('originalChunks')).toEqual(['both_chunk_1\tFalse']);
    expect(rows('chunks')).toEqual([
      'both\t0\t1\t1\t500\t1\tF1\t0.75\t0.25\t0.25\tFalse\tok\t500',
      'both\t0\t2\t498\t997\t2\tR1b\t0.875\t0.9375\t0.9375\tTrue\tok\t300',
      'both\t0\t3\t995\t1493\t0\tNA\tNA\tNA\tNA\tNA\tno_open_frame\tNA',
    ]);
    expect(own).toMatchObject({
      ...{ judgedBy: '500+300', along: '1n1v1u', bestFrame: 'R1b' },
      // The second of the shorter chunks, at 250 of the chunk.
      ...{ bestChunkStart: 747, bestChunkEnd: 997, nBasesScored: 997 },
    });
    expect(chunks.chunks.map(({ judgedBy }) => judgedBy)).toEqual([500, 300, null]);
  });

  it('have in every column the value of its own field, for a sequence in which no two counts are equal', async () => {
    const faults = Array.from({ length: 5 }, () => ({ header: 'x', length: 0, openFrames: [] }));
    const chunks = [63, 63, 0b111, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    const run = await preparedRun([
      faults.map((record) => ({ ...record, fault: 'empty' as const })),
      [{ ...recordOf('own', chunks), repeat: 37, lostToTag: 6, lostToTga: 3, geneticCode: 15 }],
    ]);
    const scores = [0.75, 0.625, 0.25, 0.125];
    await computeAll(run, ({ chunk, frame }) => (chunk === 0 && frame === 4 ? 0.875 : scores[chunk]!));
    await run.store.writeTables();
    await run.store.close();
    const table = tablesOf(run)('sequences').trimEnd().split('\n');
    const [head, ...lines] = table.map((line) => line.split('\t'));
    // Chunks of 500 bases, of which the second to fourth add 499 each; (437.5 + 499 * (0.625 + 0.25 + 0.125)) / 1997.
    expect(lines.at(-1)!.map((cell, i) => [head![i], cell])).toEqual([
      ['seq_name', 'own'],
      ['input', 'reads_1.fasta'],
      ['row', '5'],
      ['length', '5993'],
      ['too_short', 'False'],
      ['virus_score', '0.46895343'],
      ['prediction', 'others'],
      ['reason', 'ok'],
      ['n_chunks', '12'],
      ['n_chunks_scored', '4'],
      ['n_chunks_viral', '2'],
      ['viral_fraction', '0.5'],
      ['n_bases_scored', '1997'],
      ['n_bases_viral', '999'],
      ['best_chunk_start', '1'],
      ['best_chunk_end', '500'],
      ['best_frame', 'R2'],
      ['n_frames_scored', '16'],
      ['terminal_repeat', 'DTR'],
      ['terminal_repeat_length', '37'],
      ['n_chunks_lost', '8'],
      ['n_chunks_lost_to_tag', '6'],
      ['n_chunks_lost_to_tga', '3'],
      ['genetic_code_hint', '15'],
      ['model', MODEL],
    ]);
  });

  it('carry no mark if the model is a real one', async () => {
    const run = await preparedRun([[recordOf('a', [F1, 0])]], 8, { model: { name: '500', notice: null } });
    await computeAll(run);
    await run.store.writeTables();
    await run.store.close();
    const chunks = tablesOf(run)('chunks').split('\n');
    expect(chunks.slice(0, -1).map((line) => line.split('\t').length)).toEqual([12, 12, 12]);
    expect(tablesOf(run)('sequences')).toContain('\t500\n');
    writeNoticeFile(run.folder, { ...PLAN_MODEL, notice: null });
    expect(readdirSync(run.folder)).not.toContain(NOTICE_FILE);
  });

  it('come with a notice if the model is not for research, which is deleted with them', async () => {
    const run = await preparedRun([[recordOf('a', [F1])]]);
    await run.store.close();
    writeNoticeFile(run.folder, PLAN_MODEL);
    const note = readFileSync(join(run.folder, NOTICE_FILE), 'utf8');
    expect(note).toMatch(/^\[teaching model, not for research\]\n/);
    expect(note).toContain(RESULT_FILES.originalFrames);
    expect(isOurName(NOTICE_FILE)).toBe(true);
  });

  it('sort the original chunk table by code point, not by record, locale or UTF-16 unit', async () => {
    const names = ['b', 'a', 'a_chunk_1', 'B', 'é', '\u{1F9A0}', '\uFF21', 'a!'];
    const run = await preparedRun([
      names.map((name) => recordOf(name, name === 'a' ? Array<number>(11).fill(F1) : [F1])),
    ]);
    await computeAll(run);
    await run.store.writeTables();
    await run.store.close();
    const lines = tablesOf(run)('originalChunks').split('\n').slice(1, -1);
    const ids = lines.map((line) => line.split('\t')[0]!);
    const byBytes = [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(ids).toEqual(byBytes);
    expect(ids).toHaveLength(18);
    expect(ids.slice(0, 6)).toEqual([
      'B_chunk_1',
      'a!_chunk_1',
      'a_chunk_1',
      'a_chunk_10',
      'a_chunk_11',
      'a_chunk_1_chunk_1',
    ]);
  });

  it('name failed parts and records, and keep scored results', async () => {
    const run = await preparedRun(
      [[recordOf('good', [F1]), recordOf('half', [F1, F1]), recordOf('bad', [F1])]],
      2,
    );
    const [first, second] = await run.store.pendingParts();
    await compute(run, first!.key);
    await begin(run.store, second!.key);
    await run.store.failPart(second!.key, { code: 'out_of_memory', message: 'no memory | even\nfor one' });
    const { counts } = await run.store.writeTables();
    expect((await run.store.countPredictions({ filter: {} })).byPrediction).toEqual(counts.byPrediction);
    await run.store.close();

    const table = tablesOf(run);
    expect(table('failedFiles')).toBe(
      '/data/reads_0.fasta|scoring|out_of_memory: Too little memory on the device. Close other programs that use the GPU, then retry. (sequences half to bad, part 000001)\n',
    );
    expect(table('failedRecords').split('\n').slice(1)).toEqual([
      'half\treads_0.fasta\t1\t993\tout_of_memory\t000001\tout_of_memory: Too little memory on the device. Close other programs that use the GPU, then retry.',
      'bad\treads_0.fasta\t2\t500\tout_of_memory\t000001\tout_of_memory: Too little memory on the device. Close other programs that use the GPU, then retry.',
      '',
    ]);
    expect(table('originalFrames').split('\n')).toHaveLength(4);
    expect(counts.byPrediction.failed).toBe(2);
    expect(counts.byReason.out_of_memory).toBe(2);
    expect(counts.failedParts).toBe(1);
  });

  it('are refused while parts are still to be computed, and leave no file behind', async () => {
    const run = await preparedRun([[recordOf('a', [F1])]]);
    await expect(run.store.writeTables()).rejects.toThrow('parts still to be computed');
    await run.store.close();
    expect(readdirSync(run.folder).filter((name) => name !== 'work')).toEqual(['run.db']);
  });

  it('are left out where the run shall have only Parquet, and then written byte for byte', async () => {
    const inputs = [[recordOf('a', [63, 5, 0]), recordOf('NA', [9]), recordOf('"b"', [0])]];
    const request = runRequestSchema.parse({ inputs: ['/data/reads_0.fasta'], tables: 'parquet' });
    const whole = await preparedRun(inputs);
    const sparse = await preparedRun(inputs, 8, {}, { options: { request } });
    for (const run of [whole, sparse]) await computeAll(run);
    const [all, fewer] = [await whole.store.writeTables(), await sparse.store.writeTables()];
    const texts = TEXT_TABLES.map((table) => RESULT_FILES[table]);
    const { files } = all;
    const others = Object.entries(files).filter(([name]) => !(texts as string[]).includes(name));
    expect(fewer).toMatchObject({ counts: all.counts, files: Object.fromEntries(others) });
    expect(Object.keys(fewer.files)).toHaveLength(others.length);
    await sparse.store.saveResultFiles(fewer.files);
    await sparse.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
    const path = join(sparse.folder, 'later');
    const selection = { filter: { search: 'none of them' } };
    const asked = { selection, sort: { by: 'length', descending: true }, language: 'en', path } as const;
    const environment = () => Promise.reject(new Error('No sequences are read.'));
    for (const hasResults of [true, false]) {
      if (!hasResults) rmSync(join(sparse.folder, RESULT_FILES.results));
      for (const table of TEXT_TABLES) {
        await exportResults(sparse.store, { ...asked, format: RESULT_FILES[table], environment });
        expect(readFileSync(path)).toEqual(readFileSync(join(whole.folder, RESULT_FILES[table])));
        rmSync(path);
      }
    }
    expect(readdirSync(sparse.folder).filter((name) => /tsv$|later/.test(name))).toEqual([
      'failed_records.tsv',
    ]);
    for (const run of [whole, sparse]) await run.store.close();
  });
});

describe('files written beside the tables', () => {
  it('pass the viral rows to the extraction and are removed again', async () => {
    const run = await preparedRun([[recordOf('a', [F1]), recordOf('b', [F1]), recordOf('c', [F1])]]);
    await computeAll(run, ({ row }) => (row === 1 ? 0.125 : 0.875));
    await run.store.writeTables();
    let rows: number[] = [];
    const stored = await run.store.loadRun();
    const count = await writeViralSequences(run.store, stored, ({ rowsPath, outPath, headerSuffix }) => {
      const bytes = readFileSync(rowsPath);
      rows = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readUInt32LE(4 * i));
      expect(outPath).toBe(join(run.folder, 'viral_sequences.fna'));
      expect(headerSuffix).toBe('[teaching model, not for research]');
      return Promise.resolve();
    });
    await run.store.close();
    expect([count, rows]).toEqual([2, [0, 2]]);
    expect(readdirSync(run.folder).filter((name) => name.includes('viral_rows'))).toEqual([]);
  });
});
