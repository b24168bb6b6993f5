import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RESULT_FILES } from '../../../../../contract/results.ts';
import { float32Text } from '../../../../results/float32Text.ts';
import { FRAMES_WORTH_A_THREAD } from '../../../resultThreads.ts';
import { SEQUENCE_INDEXES } from '../../runSchema.ts';
import { TABLE_HEADERS } from '../tables/tableRows.ts';
import { openRunStore } from '../../../runStore.ts';
import {
  begin,
  compute,
  HOST_ENTRY,
  preparedRun,
  removeFolders,
  scoreOf,
  type PreparedRun,
} from '../../../testing/storeFixture.ts';
import { recordOf, type FrameRef, type SyntheticRecord } from '../../../testing/syntheticRun.ts';

afterAll(removeFolders);

const FAULTS = ['empty', 'invalid_characters', 'malformed_record'] as const;

function variedRecord(_: unknown, i: number): SyntheticRecord {
  if (i % 50 === 7)
    return { header: `fault_${i}`, length: 5, openFrames: [], fault: FAULTS[i % FAULTS.length]! };
  return recordOf(
    `read_${i} x`,
    Array.from({ length: 1 + (i % 3) }, (_, k) => (i * 7 + k * 11) % 64),
  );
}

/** One frame in a hundred has no score. */
function scoreWithGaps(frame: FrameRef): number {
  return (frame.row + frame.frame) % 100 === 0 ? NaN : scoreOf(frame);
}

/** What run.db says of every sequence, as lines of sequences.tsv. */
async function stored(run: PreparedRun): Promise<string> {
  const rows = await run.store.selectedRows({ filter: {} }, { by: 'row', descending: false });
  const lines = (await run.store.sequencesOf(rows)).map((row) =>
    [
      row.seqName,
      'reads_0.fasta',
      row.row,
      row.length,
      row.virusScore === null ? 'NA' : float32Text(row.virusScore),
      'NA',
      row.prediction,
      row.reason,
      row.nChunks,
      row.nChunksScored,
      row.nChunksViral,
      row.viralFraction === null ? 'NA' : float32Text(Math.fround(row.viralFraction)),
      row.bestChunkStart ?? 'NA',
      row.bestChunkEnd ?? 'NA',
      row.bestFrame ?? 'NA',
      row.nFramesScored,
      'demo (demo model, no biological meaning)',
      'NA',
    ].join('\t'),
  );
  return `${TABLE_HEADERS.sequences}${lines.join('\n')}\n`;
}

function sequencesTable(run: PreparedRun): string {
  return readFileSync(join(run.folder, RESULT_FILES.sequences), 'utf8');
}

/** Neither is a multiple of the rows of one insertion, and both have more chunks than a page of the scan. */
describe.each([
  ['by the writer alone', 1035, false],
  ['with the tables in a thread of their own', 9035, true],
])('sequence results in run.db, %s', (_, records, apart) => {
  let run: PreparedRun;
  let parts: { key: string }[];

  beforeAll(async () => {
    run = await preparedRun([Array.from({ length: records }, variedRecord)], 3000);
    expect((await run.store.counts()).frames.total >= FRAMES_WORTH_A_THREAD).toBe(apart);
    parts = await run.store.pendingParts();
    for (const { key } of parts.slice(1)) await compute(run, key, scoreWithGaps);
    await begin(run.store, parts[0]!.key);
    await run.store.failPart(parts[0]!.key, { code: 'out_of_memory', message: 'no memory' });
  });

  it('leave nothing at work when what is done meanwhile fails', async () => {
    const failing = run.store.writeTables(() => Promise.reject(new Error('no space for sequences')));
    await expect(failing).rejects.toThrow('no space for sequences');
    expect(readdirSync(run.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(sequencesTable(run).split('\n')).toHaveLength(records + 2);
  });

  it('can be read meanwhile, which is waited for', async () => {
    const seen: unknown[] = [];
    await run.store.writeTables(async () => {
      seen.push((await run.store.countPredictions({ filter: {} })).total);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      seen.push('ended');
    });
    expect(seen).toEqual([records, 'ended']);
  });

  it('are those of sequences.tsv, which is written from the same chunks', async () => {
    const { counts } = await run.store.writeTables();
    expect(Object.values(counts.byPrediction).every((n) => n > 10)).toBe(true);
    expect(counts.records).toBe(records);
    expect(await stored(run)).toBe(sequencesTable(run));
    // Nothing of an earlier time stays.
    expect(await run.store.retryFailed('all')).toEqual([parts[0]!.key]);
    await compute(run, parts[0]!.key, scoreWithGaps);
    await run.store.writeTables();
    expect(await stored(run)).toBe(sequencesTable(run));
    await run.store.close();

    const db = new Database(join(run.folder, 'run.db'), { readonly: true });
    const index = db.prepare('SELECT name FROM sqlite_schema WHERE type = ? AND tbl_name = ?').pluck();
    expect(index.all('index', 'sequence')).toEqual(SEQUENCE_INDEXES.map(({ name }) => name));
    db.close();
  });

  it('are not left behind, nor any table or sequence written, where they rest on damaged scores', async () => {
    const db = new Database(join(run.folder, 'run.db'));
    db.exec(
      'UPDATE chunk SET scores = zeroblob(length(scores)) WHERE row = (SELECT min(row) FROM chunk WHERE scores IS NOT NULL)',
    );
    db.close();
    const before = sequencesTable(run);
    const store = await openRunStore(run.folder, { hostEntry: HOST_ENTRY });
    const extract = vi.fn(() => Promise.resolve());
    await expect(store.writeTables(extract)).rejects.toMatchObject({ error: { code: 'run_damaged' } });
    expect(extract).not.toHaveBeenCalled();
    await store.close();
    expect(readdirSync(run.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(sequencesTable(run)).toBe(before);
    const after = new Database(join(run.folder, 'run.db'), { readonly: true });
    expect(after.prepare('SELECT count(*) FROM sequence').pluck().get()).toBe(0);
    after.close();
  });
});
