import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { SequenceTally } from '../../../../results/sequenceTally.ts';
import { openRunStore } from '../../../runStore.ts';
import {
  compute,
  HOST_ENTRY,
  preparedRun,
  reportPrepare,
  removeFolders,
  type PreparedRun,
} from '../../../testing/storeFixture.ts';
import { recordOf, type FrameRef } from '../../../testing/syntheticRun.ts';
import { ChunkCursor } from './recordScan.ts';

afterAll(removeFolders);

/** From scratch: one pass over every chunk. */
function counted({ folder }: PreparedRun): { viral: number; scored: number } {
  const db = new Database(join(folder, 'run.db'), { readonly: true });
  const rows = new Map<number, SequenceTally>();
  const cursor = new ChunkCursor(db);
  for (let chunk = cursor.current; chunk; chunk = cursor.current) {
    if (chunk.reason === null) {
      const tally = rows.get(chunk.row) ?? new SequenceTally(LENGTHS[chunk.row]!, 500);
      tally.add(chunk);
      rows.set(chunk.row, tally);
    }
    cursor.advance();
  }
  db.close();
  const scores = [...rows.values()].map((tally) => tally.summary(null).virusScore ?? 0);
  return { viral: scores.filter((score) => score >= 0.5).length, scored: scores.length };
}

async function expectAsCounted(run: PreparedRun): Promise<{ viral: number; scored: number }> {
  const soFar = await run.store.viralSoFar();
  expect(soFar).toEqual(counted(run));
  return soFar;
}

async function reopened(run: PreparedRun): Promise<PreparedRun> {
  return { ...run, store: await openRunStore(run.folder, { hostEntry: HOST_ENTRY }) };
}

/** Short records, and some that go on over several parts. */
const RECORDS = Array.from({ length: 40 }, (_, index) =>
  recordOf(`s${index}`, index % 9 === 4 ? Array.from({ length: 11 }, () => 63) : [1, 6, 8].slice(index % 3)),
);
const LENGTHS = RECORDS.map(({ length }) => length);
const FAILURE = { code: 'out_of_memory', message: 'The GPU is full.' } as const;

const isViral = (): number => 0.9;
const notViral = (): number => 0.1;
/** Of a long record some chunks are viral and some are not: no part alone knows what it is called. */
const everyThird = ({ chunk }: FrameRef): number => (chunk % 3 === 0 ? 0.9 : 0.1);

describe('viral sequences so far', () => {
  it('are those of a count from scratch, while parts are done in any order, fail, are cut in two and tried again', async () => {
    const run = await preparedRun([RECORDS], 8);
    const keys = (await run.store.pendingParts()).map(({ key }) => key);
    expect(keys.length).toBeGreaterThan(20);
    const figures = new Set<number>();
    const shuffled = keys.map((_, index) => keys[(index * 7) % keys.length] ?? '');
    expect(new Set(shuffled).size).toBe(keys.length);
    for (const [turn, key] of shuffled.entries()) {
      if (turn % 5 === 3) await run.store.failPart(key, FAILURE);
      else if (turn % 5 === 4) {
        const split = await run.store.splitPart(key);
        if (split.outcome === 'split') await compute(run, split.children[1], isViral);
      } else await compute(run, key, everyThird);
      figures.add((await expectAsCounted(run)).scored);
    }
    expect(figures.size).toBeGreaterThan(10);

    const before = await expectAsCounted(run);
    expect((await run.store.retryFailed('all')).length).toBeGreaterThan(3);
    expect(await expectAsCounted(run)).toEqual(before);
    for (const { key } of await run.store.pendingParts()) await compute(run, key, isViral);
    const after = await expectAsCounted(run);
    expect(after.viral).toBeGreaterThan(before.viral);
    expect(after.scored).toBe(RECORDS.length);
    await run.store.close();
  });

  it('change with a part that was done, found damaged, and computed again with other scores', async () => {
    const made = await preparedRun([RECORDS], 8);
    for (const { key } of await made.store.pendingParts()) await compute(made, key, notViral);
    expect((await expectAsCounted(made)).viral).toBe(0);
    await made.store.close();
    const db = new Database(join(made.folder, 'run.db'));
    db.prepare('UPDATE chunk SET is_virus = 1 WHERE row IN (3, 4)').run();
    db.close();

    const run = await reopened(made);
    expect((await run.store.viralSoFar()).viral).toBe(2);
    expect(await run.store.repairDamage()).toHaveLength(1);
    const rest = await expectAsCounted(run);
    expect(rest.scored).toBeLessThan(RECORDS.length);
    expect(rest.viral).toBe(0);
    await reportPrepare(run.store, run.prepared);
    for (const { key } of await run.store.pendingParts()) await compute(run, key, everyThird);
    const { viral, scored } = await expectAsCounted(run);
    expect(viral).toBeGreaterThan(0);
    expect(scored).toBe(RECORDS.length);
    await run.store.close();
  });

  it('go on where they were when the run is resumed', async () => {
    const run = await preparedRun([RECORDS], 8);
    const keys = (await run.store.pendingParts()).map(({ key }) => key);
    for (const key of keys.slice(0, 5)) await compute(run, key, everyThird);
    const before = await expectAsCounted(run);
    await run.store.close();
    const resumed = await reopened(run);
    expect(await expectAsCounted(resumed)).toEqual(before);
    for (const key of keys.slice(5)) await compute(resumed, key, everyThird);
    expect((await expectAsCounted(resumed)).scored).toBe(RECORDS.length);
    await resumed.store.close();
  });
});
