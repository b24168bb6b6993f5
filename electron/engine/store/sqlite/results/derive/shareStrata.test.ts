import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { Said } from '../../../../../contract/problems.ts';
import { type Stratum, sharesOf, type ShareStrata } from '../../../../results/estimates/viralShare.ts';
import { openRunStore } from '../../../runStore.ts';
import {
  compute,
  computeAll,
  HOST_ENTRY,
  preparedRun,
  reportPrepare,
  type PreparedRun,
} from '../../../testing/storeFixture.ts';
import {
  DESCRIPTION,
  recordOf,
  syntheticPlan,
  writePrepared,
  type FrameRef,
} from '../../../testing/syntheticRun.ts';
import { temporaryFolder } from '../../../../testing/temporaryFolder.ts';

interface Counted {
  viral: number;
  scored: number;
}

/** Counts from scratch, in one pass over every chunk. */
function counted({ folder }: PreparedRun): Counted {
  const db = new Database(join(folder, 'run.db'), { readonly: true });
  const counts = db
    .prepare<[], Counted>('SELECT coalesce(sum(is_virus), 0) AS viral, count(is_virus) AS scored FROM chunk')
    .get()!;
  db.close();
  return counts;
}

function total({ inputs }: ShareStrata): Counted {
  const strata = inputs.flatMap((input) => input.strata);
  const sum = (value: (stratum: Stratum) => number): number =>
    strata.reduce((all, stratum) => all + value(stratum), 0);
  return { viral: sum(({ known }) => known.viral), scored: sum(({ known }) => known.scored) };
}

async function expectAsCounted(run: PreparedRun): Promise<Counted> {
  const soFar = total(await run.store.shareStrata());
  expect(soFar).toEqual(counted(run));
  return soFar;
}

async function reopened(run: PreparedRun): Promise<PreparedRun> {
  return { ...run, store: await openRunStore(run.folder, { hostEntry: HOST_ENTRY }) };
}

/** The estimates of the run and of its samples. */
const sharesIn = async ({ store }: Pick<PreparedRun, 'store'>, ...samples: string[]) =>
  sharesOf(await store.shareStrata(), samples);

/** Reads of one chunk each. */
const reads = (count: number) => Array.from({ length: count }, (_, index) => recordOf(`s${index}`, [1]));

/** Computes the parts of the first round. */
async function computeFirst(run: PreparedRun, score: (frame: FrameRef) => number): Promise<void> {
  for (const { key, round } of await run.store.pendingParts())
    if (round === 0) await compute(run, key, score);
}

/** Makes the second input of a closed run one that was not read to its end. */
function cutOff({ folder }: PreparedRun, failure: Said | null): void {
  const db = new Database(join(folder, 'run.db'));
  db.prepare(
    'UPDATE input SET records = NULL, bases = NULL, first_row = NULL, failure = ? WHERE input = 1',
  ).run(failure && JSON.stringify(failure));
  db.close();
}
const TRUNCATED = { code: 'input_truncated', values: {} } as const;

/**
 * Short records, and some across several parts; some have a chunk without an open frame, which never gets a
 * call.
 */
const RECORDS = Array.from({ length: 40 }, (_, index) =>
  recordOf(
    `s${index}`,
    index % 9 === 4 ? Array.from({ length: 11 }, () => 63) : [1, index % 2 ? 6 : 0, 8].slice(index % 3),
  ),
);
const CHUNKS = RECORDS.reduce(
  (sum, { openFrames }) => sum + openFrames.filter((mask) => mask !== 0).length,
  0,
);
const FAILURE = { code: 'out_of_memory', message: 'The GPU is full.' } as const;

const isEven = ({ row }: FrameRef): number => (row % 2 === 0 ? 0.9 : 0.1);
const isViral = (): number => 0.9;
const notViral = (): number => 0.1;
/** Some chunks of a long record are viral and some are not, so no single part determines its call. */
const everyThird = ({ chunk }: FrameRef): number => (chunk % 3 === 0 ? 0.9 : 0.1);

describe('viral chunks so far', () => {
  it('equal a count from scratch, while parts are done in any order, fail, are cut in two and retried, and the run is resumed', async () => {
    let run = await preparedRun([RECORDS], 8);
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
    await run.store.close();
    run = await reopened(run);
    expect(await expectAsCounted(run)).toEqual(before);
    expect((await run.store.retryFailed('all')).length).toBeGreaterThan(3);
    expect(await expectAsCounted(run)).toEqual(before);
    await computeAll(run, isViral);
    const after = await expectAsCounted(run);
    expect(after.viral).toBeGreaterThan(before.viral);
    expect(after.scored).toBe(CHUNKS);
    expect((await sharesIn(run, '')).run).toMatchObject({ scored: CHUNKS, total: CHUNKS });
    await run.store.close();
  });

  it('weigh every chunk equally, however many open frames it has', async () => {
    // Both halves have as many chunks, but in the second each has three frames.
    const records = Array.from({ length: 160 }, (_, index) => recordOf(`s${index}`, [index < 80 ? 1 : 7]));
    const roundOf = (row: number): number => (row % 4 > 0 ? 0 : 1);
    const run = await preparedRun([records], { framesPerPart: 1, roundOf }, { order: 'sample' });
    await computeFirst(run, ({ row }) => (row < 80 ? 0.9 : 0.1));
    const { estimate } = (await sharesIn(run, '')).run;
    expect(Math.abs(estimate!.share - 0.5)).toBeLessThan(0.05);
    await run.store.close();
  });

  it('cover the final share where the first chunks of viral sequences have no open frame', async () => {
    const records = Array.from({ length: 400 }, (_, index) =>
      recordOf(`s${index}`, index % 2 === 0 ? [0, 0, 1] : [1, 1, 1]),
    );
    // Each chunk gets its round at random, as in an even sample; those without an open frame are in no part.
    const roundOf = (row: number, chunk: number): number =>
      Math.imul(3 * row + chunk, 2_654_435_761) >>> 29 === 0 ? 0 : 1;
    const run = await preparedRun([records], { framesPerPart: 4, roundOf }, { order: 'sample' });
    await computeFirst(run, isEven);
    const { estimate, total: chunks } = (await sharesIn(run, '')).run;
    expect(chunks).toBe(800);
    // A quarter of the chunks with an open frame are those of the sequences whose first two have none.
    expect([estimate!.low < 0.25, estimate!.high > 0.25]).toEqual([true, true]);
    await run.store.close();
  });

  it('have an estimate also where a file of the sample cannot be read to its end', async () => {
    const roundOf = (row: number): number => (row % 2 > 0 ? 0 : 1);
    const inputs = [reads(40), reads(20)];
    const made = await preparedRun(inputs, { framesPerPart: 1, roundOf }, { order: 'sample' });
    await computeFirst(made, everyThird);
    await made.store.close();
    const estimateWhere = async (failure: Said | null) => {
      cutOff(made, failure);
      const run = await reopened(made);
      const [gut] = (await sharesIn(run, 'gut', 'gut')).samples;
      await run.store.close();
      return gut?.estimate ?? null;
    };
    expect(await estimateWhere(null)).toBeNull();
    expect(await estimateWhere(TRUNCATED)).not.toBeNull();
  });

  it('have an estimate of each sample once its first round is computed, whatever came before', async () => {
    const roundOf = (row: number): number => (row % 10 === 3 ? 0 : 1);
    const run = await preparedRun([reads(30), reads(30)], { framesPerPart: 1, roundOf }, { order: 'sample' });
    const parts = await run.store.pendingParts();
    const known = async (): Promise<boolean[]> =>
      (await sharesIn(run, 'pond', 'lake')).samples.map(({ estimate }) => estimate !== null);
    for (const { key, round, firstRow } of parts)
      if (round > 0 && firstRow < 25) await compute(run, key, everyThird);
    const first = parts.filter(({ round }) => round === 0);
    for (const { key } of first.slice(0, 2)) await compute(run, key, everyThird);
    expect(await known()).toEqual([false, false]);
    await compute(run, first[2]!.key, everyThird);
    expect(await known()).toEqual([true, false]);
    for (const { key } of first.slice(3)) await compute(run, key, everyThird);
    expect(await known()).toEqual([true, true]);
    await run.store.close();
  });

  it('lose their estimate with a part of the first round only until a later round has its rows', async () => {
    const roundOf = (row: number): number => (row % 10 === 3 ? 0 : row % 10 === 7 ? 1 : 2);
    const run = await preparedRun([reads(400)], { framesPerPart: 10, roundOf }, { order: 'sample' });
    const parts = await run.store.pendingParts();
    // The reads of the first quarter are viral, and its part of the first round fails.
    const firstQuarter = ({ row }: FrameRef): number => (row < 100 ? 0.9 : 0.1);
    const known = async () => (await sharesIn(run, 'gut')).run;
    const [failing, ...others] = parts.filter(({ round }) => round === 0);
    await run.store.failPart(failing!.key, FAILURE);
    for (const { key } of others) await compute(run, key, firstQuarter);
    // What is computed says nothing of the reads of that part.
    expect((await known()).estimate).toBeNull();
    await run.store.retryFailed([failing!.key]);
    expect((await known()).estimate).toBeNull();
    await run.store.skipParts([failing!.key]);

    const second = parts.filter(({ round }) => round === 1);
    for (const { key } of second.toReversed()) {
      expect((await known()).estimate).toBeNull();
      await compute(run, key, firstQuarter);
    }
    const skipped = await known();
    expect(skipped.estimate!.low).toBeLessThan(0.25);
    expect(skipped.estimate!.high).toBeGreaterThan(0.25);
    // The interval is for the finished run, in which the part's reads get a call only if it is retried.
    expect(skipped.total).toBe(390);
    await run.store.retryFailed([failing!.key]);
    const retried = await known();
    expect(retried.total).toBe(400);
    for (const end of ['low', 'share', 'high'] as const)
      expect(Math.abs(retried.estimate![end] - skipped.estimate![end])).toBeLessThan(0.02);
    await compute(run, failing!.key, firstQuarter);

    await run.store.skipParts((await run.store.pendingParts()).map(({ key }) => key));
    const { viral, scored } = counted(run);
    const share = viral / scored;
    expect(await known()).toMatchObject({
      scored,
      total: scored,
      estimate: { share, low: share, high: share },
    });
    await run.store.close();
  });

  it('rest on no round of which a section has only a part, as the sequences of that part would count too much', async () => {
    const contigs = Array.from({ length: 128 }, (_, index) => recordOf(`s${index}`, [1, 1, 1, 1]));
    const roundOf = (_: number, chunk: number): number => (chunk === 0 ? 0 : 1);
    // So a part of the later round has what it holds of one contig.
    const run = await preparedRun([contigs], { framesPerPart: 3, roundOf }, { order: 'sample' });
    const known = async () => (await sharesIn(run, 'gut')).run;
    const parts = await run.store.pendingParts();
    const later = parts.filter(({ round }) => round === 1);
    await computeFirst(run, isEven);
    for (const { key } of later.filter(({ firstRow }) => firstRow % 2 === 0)) await compute(run, key, isEven);
    const { estimate: before, ...counts } = await known();
    expect(counts).toMatchObject({ scored: 320, viral: 256 });
    expect(before!.share).toBeCloseTo(0.5, 10);

    const [first] = later.filter(({ firstRow }) => firstRow % 2 === 1);
    await run.store.failPart(first!.key, FAILURE);
    for (const { key } of later.filter(({ firstRow }) => firstRow % 2 === 1 && firstRow > 1 && firstRow < 64))
      await compute(run, key, isEven);
    const after = (await known()).estimate!;
    expect(Math.abs(after.share - 0.5)).toBeLessThan(0.02);
    expect(after.high - after.low).toBeLessThan(0.9 * (before!.high - before!.low));
    await run.store.close();
  });

  it('have, in the order of the files, the share of each sample of which nothing is missing', async () => {
    const made = await preparedRun([reads(12), reads(18)], 4);
    const everyFourth = ({ row }: FrameRef): number => (row % 4 === 0 ? 0.9 : 0.1);
    const known = async (of = made) => {
      const { run, samples } = await sharesIn(of, 'pond', 'lake');
      return [...samples, run].map(({ estimate }) => estimate);
    };
    const closed = (share: number) => ({ share, low: share, high: share });
    const [first, failing, last, ...others] = (await made.store.pendingParts()).map(({ key }) => key);
    await compute(made, last!, everyFourth);
    await compute(made, first!, everyFourth);
    expect(await known()).toEqual([null, null, null]);
    await made.store.failPart(failing!, FAILURE);
    // Rows 4 to 7 get no call unless their part is retried.
    expect(await known()).toEqual([closed(2 / 8), null, null]);
    await made.store.retryFailed([failing!]);
    expect(await known()).toEqual([null, null, null]);
    await compute(made, failing!, everyFourth);
    expect(await known()).toEqual([closed(3 / 12), null, null]);
    await made.store.skipParts(others.slice(1));
    expect(await known()).toEqual([closed(3 / 12), null, null]);
    await compute(made, others[0]!, everyFourth);
    // Of rows 12 to 15 alone.
    expect(await known()).toEqual([closed(3 / 12), closed(1 / 4), closed(4 / 16)]);
    await made.store.retryFailed('all');
    expect(await known()).toEqual([closed(3 / 12), null, null]);
    await made.store.close();

    cutOff(made, TRUNCATED);
    const run = await reopened(made);
    expect(await known(run)).toEqual([closed(3 / 12), null, closed(3 / 12)]);
    await run.store.close();
  });

  it('count a file that was read only once all its records are stored, also while parts are being cut', async () => {
    const folder = join(temporaryFolder(), 'run');
    mkdirSync(folder);
    const prepared = writePrepared(folder, [reads(30), reads(30)], { recordsPerFile: 40 });
    const create = { plan: { ...syntheticPlan(2), order: 'sample' as const }, description: DESCRIPTION };
    const store = await openRunStore(folder, { hostEntry: HOST_ENTRY, create });
    const totals = async (): Promise<number[]> =>
      (await sharesIn({ store }, 'pond', 'lake')).samples.map(({ total: all }) => all);
    await store.ingestRecords(prepared.records[0]!);
    await store.registerPart(prepared.parts[0]!);
    for (const input of prepared.inputs) await store.finishInput(input);
    expect(await totals()).toEqual([30, 0]);
    await reportPrepare(store, prepared);
    expect(await totals()).toEqual([30, 30]);
    await store.close();
  });

  it('change with a part that was done, found damaged, and computed again with other scores', async () => {
    const made = await preparedRun([RECORDS], 8);
    await computeAll(made, notViral);
    expect((await expectAsCounted(made)).viral).toBe(0);
    await made.store.close();
    const db = new Database(join(made.folder, 'run.db'));
    db.prepare('UPDATE chunk SET is_virus = 1 WHERE row IN (3, 5)').run();
    db.close();

    const run = await reopened(made);
    await expect(run.store.shareStrata()).rejects.toMatchObject({ error: { code: 'run_damaged' } });
    expect(await run.store.repairDamage()).toHaveLength(1);
    const rest = await expectAsCounted(run);
    expect(rest.scored).toBeLessThan(CHUNKS);
    expect(rest.viral).toBe(0);
    await reportPrepare(run.store, run.prepared);
    await computeAll(run, everyThird);
    const { viral, scored } = await expectAsCounted(run);
    expect(viral).toBeGreaterThan(0);
    expect(scored).toBe(CHUNKS);
    await run.store.close();
  });

  it('have an interval around the final share if the parts are an even sample, and none in the order of the files', async () => {
    const everySeventh = ({ row }: FrameRef): number => (row % 7 === 0 ? 0.9 : 0.1);
    for (const order of ['sample', 'file'] as const) {
      // The first eight of the order below.
      const roundOf = (row: number): number => ((row * 349) % 400 < 8 ? 0 : 1);
      const run = await preparedRun([reads(100), reads(300)], { framesPerPart: 1, roundOf }, { order });
      const parts = (await run.store.pendingParts()).map(({ key }) => key);
      // Every part is one read here, so any order is an even sample.
      const turns = parts.map((_, index) => parts[(index * 149) % parts.length]!);
      for (const key of turns.slice(0, 120)) await compute(run, key, everySeventh);
      const known = async () => (await sharesIn(run, 'pond', 'lake')).run.estimate;
      const partly = await known();
      if (order === 'file') expect(partly).toBeNull();
      else {
        const { share, low, high } = partly!;
        expect([low < share, share < high, low < 1 / 7, 1 / 7 < high]).toEqual([true, true, true, true]);
      }
      for (const key of turns.slice(120)) await compute(run, key, everySeventh);
      const { viral, scored } = counted(run);
      const share = viral / scored;
      expect(await known()).toEqual({ share, low: share, high: share });
      await run.store.close();
    }
  });
});
