import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { QUERY_LIMITS } from '../../../contract/rpc/results.ts';
import { openRunStore, type RunStore } from '../runStore.ts';
import { computeAll, finish, HOST_ENTRY, preparedRun } from '../testing/storeFixture.ts';
import { recordOf } from '../testing/syntheticRun.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';

/*
 * Queries that DuckDB does not stop, or whose memory it does not count. Linux alone says how much memory
 * another process has taken at most.
 */

const SECONDS = 4;
const LOOK_MS = 20;

const HUGE = 2_000_000_000;
const QUERIES = [
  `SELECT length(string_agg('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'b')) FROM range(100000000)`,
  `SELECT list_transform(range(300000000), x -> x || 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')`,
  `SELECT list_sort(list_transform(range(300000000), x -> hash(x)))`,
  `SELECT length(format('{:>${HUGE}}', 'a'))`,
  `SELECT max(length(repeat('x', 1000000000 + range))) FROM range(1000)`,
  `SELECT length(bitstring('1', 2000000000)::VARCHAR)`,
  `SELECT len(list_concat(range(150000000), range(150000000)))`,
  `SELECT len(flatten(list_transform(range(20000), x -> range(20000))))`,
  `SELECT len(string_split(repeat('a,', 300000000), ','))`,
  `SELECT count(*) FROM range(2000000) t WHERE regexp_matches(repeat('a', 30000) || 'b', '((a{1,30}){1,30})*c')`,
  `SELECT length(to_json(range(300000000))::VARCHAR)`,
  `SELECT count(*) FROM (SELECT list(range) AS l FROM range(1000000000) GROUP BY range % 7)`,
  `SELECT quantile_cont(hash(range), 0.5) FROM range(10000000000)`,
  `SELECT count(DISTINCT a.range * b.range) FROM range(1000000) a, range(1000000) b`,
  `SELECT * FROM range(100000000000) ORDER BY hash(range) DESC LIMIT 1 OFFSET 99999999`,
  `WITH RECURSIVE again(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM again) SELECT max(n) FROM again`,
  `WITH RECURSIVE again(s) AS (SELECT 'xxxxxxxxxxxxxxxx' UNION ALL SELECT s || s FROM again) SELECT max(length(s)) FROM again`,
  `SELECT unnest(range(3000000000))`,
  `SELECT * FROM (PIVOT (SELECT range % 1000000 AS k, 1 AS v FROM range(3000000)) ON k IN (1, 2) USING sum(v))`,
];

let store: RunStore;
let temporary = '';
/** What other tests in this process have not ended yet is no query's. */
let others: readonly number[] = [];
beforeAll(async () => {
  others = children();
  const run = await preparedRun([[recordOf('a one', [63, 5]), recordOf('b', [9])]]);
  await computeAll(run);
  await finish(run);
  await run.store.close();
  // A folder of its own, which shows what a query leaves behind.
  temporary = temporaryFolder();
  vi.stubEnv('TMPDIR', temporary);
  store = await openRunStore(run.folder, { hostEntry: HOST_ENTRY, readOnly: true });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await store.close();
});

const ask = (sql: string) => store.queryResults({ sql, samples: ['gut'], tables: [], rows: 10 }, SECONDS);

describe.runIf(process.platform === 'linux')('a query that would take everything', () => {
  it.each(QUERIES)('%s', async (sql) => {
    let most = 0;
    const look = setInterval(() => {
      for (const pid of ofQueries()) most = Math.max(most, peakBytes(pid));
    }, LOOK_MS);
    const outcome = ask(sql).then(
      () => 'answered',
      (error: unknown) => error,
    );
    const progress = { isOver: false };
    void outcome.then(() => (progress.isOver = true));
    // Others are answered meanwhile.
    let answered = 0;
    while (!progress.isOver) {
      expect((await store.findSequences({ filter: {} }, { by: 'row', descending: false }, 0, 10)).total).toBe(
        2,
      );
      answered += 1;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    clearInterval(look);
    if ((await outcome) !== 'answered') expect(await outcome).toMatchObject({ error: { code: 'usage' } });
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(1.1 * QUERY_LIMITS.processBytes);
    expect(answered).toBeGreaterThan(0);
    expect(ofQueries()).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  });
});

const ofQueries = (): number[] => children().filter((pid) => !others.includes(pid));

/** Processes that this one has started and that have not ended. */
function children(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(
      (pid) => statusOf(pid)?.['PPid'] === String(process.pid) && statusOf(pid)?.['VmHWM'] !== undefined,
    );
}

const peakBytes = (pid: number): number => 1024 * Number.parseInt(statusOf(pid)?.['VmHWM'] ?? '0', 10);

function statusOf(pid: number): Record<string, string> | null {
  try {
    const lines = readFileSync(`/proc/${pid}/status`, 'utf8').trim().split('\n');
    return Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2) as [string, string]));
  } catch {
    return null;
  }
}
