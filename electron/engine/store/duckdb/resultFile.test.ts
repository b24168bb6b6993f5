import { columnName, columnsOf, sequenceColumn } from '../../../contract/columns.ts';
import { readFileSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { RESULT_FILES } from '../../../contract/results.ts';
import { float32Text } from '../../results/cellText.ts';
import { FRAMES_WORTH_A_THREAD, openRunStore } from '../runStore.ts';
import {
  begin,
  compute,
  HOST_ENTRY,
  preparedRun,
  scoreOf,
  type PreparedRun,
} from '../testing/storeFixture.ts';
import { openDuckDb } from './duckdb.ts';
import { quoted } from './quoted.ts';
import { recordOf, type FrameRef, type SyntheticRecord } from '../testing/syntheticRun.ts';
/** A run without pairs and p-values. */
const PLAIN = { isPaired: false, isCalibrated: false, looksTwice: false };
const SHARED = columnsOf('sequences', PLAIN).map(columnName);
const TYPES = { text: 'VARCHAR', integer: 'INTEGER', score: 'FLOAT', share: 'FLOAT', flag: 'BOOLEAN' };
const TYPE_OF = new Map(
  columnsOf('results', PLAIN).map((key) => {
    const { kind, isWide } = sequenceColumn(key);
    return [columnName(key), isWide ? 'BIGINT' : TYPES[kind]];
  }),
);

const FAULTS = ['empty', 'invalid_characters', 'malformed_record'] as const;

function variedRecord(_: unknown, i: number): SyntheticRecord {
  if (i % 50 === 7)
    return { header: `fault_${i}`, length: 5, openFrames: [], fault: FAULTS[i % FAULTS.length]! };
  if (i % 50 === 8)
    return {
      ...recordOf(`recoded_${i}`, [1, 0, 0, 0, 0, 0]),
      ...{ lostToTag: 2 + (i % 4), lostToTga: 1, geneticCode: 15 as const, repeat: 20 + (i % 30) },
    };
  return recordOf(
    `read_${i} x`,
    Array.from({ length: 1 + (i % 3) }, (_, k) => (i * 7 + k * 11) % 64),
  );
}

/** One frame in a hundred has no score. */
function scoreWithGaps(frame: FrameRef): number {
  return (frame.row + frame.frame) % 100 === 0 ? NaN : scoreOf(frame);
}

/** The store's results for every sequence, as lines of sequences.tsv. */
async function stored(run: PreparedRun): Promise<string> {
  const rows = await run.store.selectedRows({ filter: {} }, { by: 'row', descending: false });
  const [head = ''] = sequencesTable(run).split('\n');
  const text = (name: string, value: string | number | boolean | null | undefined): string => {
    if (name === 'input') return 'reads_0.fasta';
    if (name === 'model') return 'teaching (teaching model, not for research)';
    if (value === null) return 'NA';
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    return TYPE_OF.get(name) === 'FLOAT' ? float32Text(value as number) : String(value);
  };
  const lines = (await run.store.sequencesOf(rows)).map((row) => {
    const cells = new Map(Object.entries(row).map(([key, value]) => [snakeCase(key), value]));
    return head
      .split('\t')
      .map((name) => text(name, cells.get(name)))
      .join('\t');
  });
  return [head, ...lines, ''].join('\n');
}

const snakeCase = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function sequencesTable(run: PreparedRun): string {
  return readFileSync(join(run.folder, RESULT_FILES.sequences), 'utf8');
}

/**
 * Neither is a multiple of the rows that DuckDB takes at once, and both have more chunks than a page of the
 * scan.
 */
describe.each([
  ['with the tables written by the writer', 1035, false],
  ['with the tables in threads of their own', 9035, true],
])('sequence results, %s', (_, records, apart) => {
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

  it('leave nothing running if the concurrent work fails', async () => {
    const failing = run.store.writeTables(() => Promise.reject(new Error('no space for sequences')));
    await expect(failing).rejects.toThrow('no space for sequences');
    expect(readdirSync(run.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(sequencesTable(run).split('\n')).toHaveLength(records + 2);
  });

  it('leave no unfinished table if results.parquet cannot be written', async () => {
    const inTheWay = join(run.folder, `${RESULT_FILES.results}.tmp`);
    mkdirSync(inTheWay);
    await expect(run.store.writeTables()).rejects.toThrow();
    rmdirSync(inTheWay);
    expect(readdirSync(run.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('wait for the concurrent work', async () => {
    const seen: string[] = [];
    await run.store.writeTables(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      seen.push('ended');
    });
    expect(seen).toEqual(['ended']);
  });

  it('equal those of sequences.tsv, which is written from the same chunks', async () => {
    const { counts } = await run.store.writeTables();
    expect(Object.values(counts.byPrediction).every((n) => n > 10)).toBe(true);
    expect(counts.records).toBe(records);
    expect(await stored(run)).toBe(sequencesTable(run));
    // Results from before must not remain.
    expect(await run.store.retryFailed('all')).toEqual([parts[0]!.key]);
    await compute(run, parts[0]!.key, scoreWithGaps);
    await run.store.writeTables();
    expect(await stored(run)).toBe(sequencesTable(run));
  });

  it('are written to results.parquet with every column of sequences.tsv, and some that it lacks', async () => {
    const duck = await openDuckDb();
    const files = [RESULT_FILES.results, RESULT_FILES.sequences].map((name) =>
      quoted(join(run.folder, name)),
    );
    const differing = await duck.rows(
      `SELECT count(*) AS count FROM (SELECT ${SHARED.join(', ')} FROM read_parquet(${files[0]}) EXCEPT ALL
         SELECT ${SHARED.map((name) => `${name}::${TYPE_OF.get(name)}`).join(', ')}
         FROM read_csv(${files[1]}, delim = '\t', nullstr = 'NA', all_varchar = true))`,
    );
    expect(differing).toEqual([{ count: 0n }]);
    const columns = await duck.rows<{ column_name: string; column_type: string }>(
      `SELECT column_name, column_type FROM (DESCRIBE FROM read_parquet(${files[0]}))`,
    );
    expect(columns.map((one) => [one.column_name, one.column_type])).toEqual([...TYPE_OF]);
    const rows = await run.store.selectedRows({ filter: {} }, { by: 'row', descending: false });
    const expected = (await run.store.sequencesOf(rows)).map((one) => ({
      row: one.row,
      header: one.header,
      evidence: one.evidence,
      best_score: one.bestScore,
      second_score: one.secondScore,
    }));
    expect(
      await duck.rows(
        `SELECT row, header, evidence, best_score, second_score FROM read_parquet(${files[0]}) ORDER BY row`,
      ),
    ).toEqual(expected);
    duck.close();
    await run.store.close();
  });

  it('are not left behind, nor any table or sequence written, if they rest on damaged scores', async () => {
    const db = new Database(join(run.folder, 'run.db'));
    db.exec(
      'UPDATE chunk SET scores = zeroblob(length(scores)) WHERE row = (SELECT min(row) FROM chunk WHERE scores IS NOT NULL)',
    );
    // Whoever writes tables stumbles over it, long before all is compared with its digests.
    db.exec('UPDATE record SET n_frames = n_frames + 1 WHERE row = 0');
    db.close();
    const before = sequencesTable(run);
    const store = await openRunStore(run.folder, { hostEntry: HOST_ENTRY });
    const extract = vi.fn(() => Promise.resolve());
    await expect(store.writeTables(extract)).rejects.toMatchObject({ error: { code: 'run_damaged' } });
    expect(extract).not.toHaveBeenCalled();
    await store.close();
    expect(readdirSync(run.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(sequencesTable(run)).toBe(before);
  });
});
