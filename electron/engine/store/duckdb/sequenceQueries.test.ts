import { sequenceSortSchema, type SequenceResult, type SequenceSort } from '../../../contract/columns.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { evidenceSchema, reasonSchema } from '../../../contract/results.ts';
import { type SequenceFilter } from '../../../contract/rpc/results.ts';
import { randomNumbers } from '../../testing/randomNumbers.ts';
import { computeAll, finish, preparedRun } from '../testing/storeFixture.ts';
import { madeUpResults, writeMadeUpResults } from '../testing/madeUpResults.ts';
import { recordOf } from '../testing/syntheticRun.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
import { orderOf } from './selection.ts';
import { sequenceQueryMethods } from './sequenceQueries.ts';

describe('chunks', () => {
  it('are given for sequences in any order', async () => {
    const ones = (count: number) => new Array<number>(count).fill(1);
    const records = [ones(2), ones(3), ones(1), [0]].map((chunks, i) => recordOf(`s${i}`, chunks));
    const { store, ...run } = await preparedRun([records]);
    await computeAll({ ...run, store }, ({ row }) => Math.fround(0.2 * (row + 2)));
    const order = Uint32Array.of(2, 1, 0);
    const chunks = await store.scoredChunksOf(order);
    expect(chunks.map((own) => own.map(({ chunk, frame }) => `${chunk}${frame}`))).toEqual([
      ['0F1'],
      ['0F1', '1F1', '2F1'],
      ['0F1', '1F1'],
    ]);
    expect(await store.ribbonsOf(await store.sequencesOf(order))).toEqual([[80], [60, 60, 60], [-40, -40]]);
    expect(await store.ribbonsOf([{ row: 3, nChunks: 1 }])).toEqual([[]]);
    await expect(store.sequencesOf(Uint32Array.of(99))).rejects.toThrow('changed');
    await store.close();
  });

  it('are drawn with the score that decides the call, and several of them with that of the most decided one', async () => {
    const chunks = new Array<number>(90).fill(1);
    const own = await preparedRun([[recordOf('two frames', [3]), recordOf('long', chunks)]]);
    await computeAll(own, ({ row, chunk, frame }) =>
      row === 0 ? (frame === 0 ? 0.05 : 0.88) : chunk % 2 === 0 ? 0.6 : 0.1,
    );
    const [decided, long] = await own.store.ribbonsOf([
      { row: 0, nChunks: 1 },
      { row: 1, nChunks: 90 },
    ]);
    expect(decided).toEqual([-5]);
    expect(long).toEqual(new Array<number>(45).fill(-10));
    await own.store.close();
  });
});

describe('results of many sequences', () => {
  let run: Awaited<ReturnType<typeof preparedRun>>;
  let all: SequenceResult[];

  beforeAll(async () => {
    const random = randomNumbers(7);
    const record = (_: unknown, i: number) => {
      const chunks = Array.from({ length: 1 + Math.floor(5 * random()) }, () => (random() < 0.3 ? 0 : 1));
      // Some names occur twice, and one is not ASCII.
      return recordOf(`${i % 40 === 0 ? 'ß' : 'c'}${Math.floor(60 * random())} len=${chunks.length}`, chunks);
    };
    run = await preparedRun([Array.from({ length: 90 }, record), Array.from({ length: 60 }, record)], 40);
    // Some sequences have a score and a chunk that has failed.
    await computeAll(run, () => (random() < 0.05 ? NaN : Math.fround(random())));
    await run.store.writeTables();
    all = await run.store.sequencesOf(Uint32Array.from({ length: 150 }, (_, row) => row));
  });

  it('are filtered, sorted, paged and counted like a plain loop does', async () => {
    const limits: Record<string, fc.Arbitrary<unknown>> = {
      input: fc.integer({ min: 0, max: 2 }),
      inputs: fc.subarray([0, 1]),
      predictions: fc.subarray(['virus', 'others', 'not_scored', 'failed'] as const),
      minScore: fc.constantFrom(0, 0.25, 0.5),
      belowScore: fc.constantFrom(0.5, 0.75),
      minLength: fc.constantFrom(0, 501, 1000),
      maxLength: fc.constantFrom(500, 1500),
      minScoredChunks: fc.constantFrom(0, 1, 2),
      evidence: fc.subarray(['weak', 'moderate', 'strong'] as const),
      minFramesScored: fc.constantFrom(0, 1, 3),
      minViralFraction: fc.constantFrom(0, 0.5, 1),
      minSecondScore: fc.constantFrom(0, 0.3, 0.7),
      reasons: fc.subarray(['ok', 'no_open_frame', 'non_finite', 'not_computed'] as const),
      search: fc.constantFrom('C1', 'len=3', '5', 'ß', '%', '_'),
      shortlisted: fc.constant(true as const),
    };
    const filters = fc
      .subarray(Object.keys(limits), { maxLength: 3 })
      .chain(
        (keys) =>
          fc.record(
            Object.fromEntries(keys.map((key) => [key, limits[key]!])),
          ) as fc.Arbitrary<SequenceFilter>,
      );
    const sorts = fc.record({
      by: fc.constantFrom(...sequenceSortSchema.shape.by.options),
      descending: fc.boolean(),
    });
    const edgesOf = fc.subarray([500, 600, 993, 1493, 1500]).map((edges) => [0, ...edges]);
    const path = join(temporaryFolder(), 'rows');
    const property = fc.asyncProperty(
      ...[filters, fc.uniqueArray(fc.nat(149)), sorts, fc.nat(60), fc.integer({ min: 1, max: 9 }), edgesOf],
      async (filter, marked, sort, offset, bins, edges) => {
        const selection = { filter, marked };
        const expected = all
          .filter((row) => passes(row, filter) && (!filter.shortlisted || marked.includes(row.row)))
          .sort((a, b) => compared(a, b, sort));
        const found = await run.store.findSequences(selection, sort, offset, 20);
        expect(found).toEqual({ total: expected.length, items: expected.slice(offset, offset + 20) });
        const rows = expected.map(({ row }) => row);
        expect([...(await run.store.selectedRows(selection, sort))]).toEqual(rows);
        expect(await run.store.writeSelectedRows(selection, path)).toBe(rows.length);
        const written = new Uint32Array(new Uint8Array(readFileSync(path)).buffer);
        expect([...written]).toEqual(rows.toSorted((a, b) => a - b));
        const of = (call: string) => expected.filter(({ prediction }) => prediction === call);
        const { byPrediction } = await run.store.countPredictions(selection);
        expect(byPrediction.virus).toBe(of('virus').length);
        const binned = (call: string) =>
          Array.from({ length: bins }, (_, bin) => of(call).filter((row) => binOf(row, bins) === bin).length);
        const scores = await run.store.scoreBins(selection, bins);
        expect(scores).toEqual({ virus: binned('virus'), others: binned('others') });
        const lengths = edges.map((from, i) => {
          const to = edges[i + 1] ?? null;
          const among = (call: string) =>
            of(call).filter(({ length }) => length >= from && length < (to ?? Infinity)).length;
          return {
            from,
            to,
            virus: among('virus'),
            others: among('others'),
            not_scored: among('not_scored'),
          };
        });
        expect(await run.store.lengthBins(selection, edges)).toEqual(lengths);
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });

  it('are the same from results.parquet, once the run is done', async () => {
    await finish(run);
    for (const by of sequenceSortSchema.shape.by.options) {
      const sort = { by, descending: true };
      const expected = all.toSorted((a, b) => compared(a, b, sort));
      expect(await run.store.findSequences({ filter: {} }, sort, 0, 150)).toEqual({
        total: 150,
        items: expected,
      });
    }
  });
});

it('finds any page of an order, however far from the first', async () => {
  const [folder, sequences] = [temporaryFolder(), 30_000];
  const source = madeUpResults(folder, sequences, await writeMadeUpResults(folder, sequences));
  await source.derive(0);
  const queries = sequenceQueryMethods(source);
  const orders = new Map<string, Uint32Array>();
  const orderIn = async (filter: SequenceFilter, sort: SequenceSort): Promise<Uint32Array> => {
    const key = JSON.stringify([filter, sort]);
    const order = orders.get(key) ?? (await queries.selectedRows({ filter }, sort));
    orders.set(key, order);
    return order;
  };
  const filters = fc.constantFrom<SequenceFilter>(
    {},
    { predictions: ['virus'] },
    { minLength: 500, input: 2 },
  );
  const sorts = fc.record({
    by: fc.constantFrom(...sequenceSortSchema.shape.by.options),
    descending: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(filters, sorts, fc.nat(sequences), async (filter, sort, offset) => {
      const order = await orderIn(filter, sort);
      for (const at of [offset, offset + 300]) {
        const { total, items } = await queries.findSequences({ filter }, sort, at, 300);
        expect(total).toBe(order.length);
        expect(items.map(({ row }) => row)).toEqual(Array.from(order.slice(at, at + 300)));
      }
    }),
    { numRuns: 40 },
  );
  await source.close();
});

it('sorts files by name, with numbers in names by value', () => {
  const labels = ['b/s10.fa', 'b/s2.fa', 'a/s2.fa', 'S1.fa'];
  const sql = orderOf({ by: 'input', descending: false }, labels);
  expect(sql.slice(0, sql.indexOf(']'))).toContain("'S1.fa', 'b/s2.fa', 'a/s2.fa', 'b/s10.fa'");
});

function passes(row: SequenceResult, filter: SequenceFilter): boolean {
  const score = row.virusScore;
  return (
    (filter.input === undefined || row.input === filter.input) &&
    (filter.inputs === undefined || filter.inputs.includes(row.input)) &&
    (filter.predictions === undefined || filter.predictions.includes(row.prediction)) &&
    (filter.minScore === undefined || (score !== null && score >= filter.minScore)) &&
    (filter.belowScore === undefined || (score !== null && score < filter.belowScore)) &&
    (filter.minLength === undefined || row.length >= filter.minLength) &&
    (filter.maxLength === undefined || row.length <= filter.maxLength) &&
    (filter.minScoredChunks === undefined || row.nChunksScored >= filter.minScoredChunks) &&
    (filter.minFramesScored === undefined || row.nFramesScored >= filter.minFramesScored) &&
    isAtLeast(row.viralFraction, filter.minViralFraction) &&
    isAtLeast(row.secondScore, filter.minSecondScore) &&
    (filter.reasons === undefined || filter.reasons.includes(row.reason)) &&
    (filter.evidence === undefined || (row.evidence !== null && filter.evidence.includes(row.evidence))) &&
    (filter.search === undefined || row.header.toLowerCase().includes(filter.search.toLowerCase()))
  );
}

const binOf = ({ virusScore }: SequenceResult, bins: number): number =>
  Math.min(bins - 1, Math.floor(virusScore! * bins));

const isAtLeast = (value: number | null, least: number | undefined): boolean =>
  least === undefined || (value !== null && value >= least);

function compared(a: SequenceResult, b: SequenceResult, { by, descending }: SequenceSort): number {
  const value = (row: SequenceResult) => {
    if (by === 'reason') return row.reason === 'ok' ? null : reasonSchema.options.indexOf(row.reason);
    if (by !== 'evidence') return row[by];
    // From the most certain virus to the most certain other sequence.
    const level = row.evidence && evidenceSchema.options.indexOf(row.evidence) + 1;
    return level && (row.prediction === 'virus' ? level : -level);
  };
  // Within a level of evidence, and without any, by score.
  for (const of of by === 'evidence' ? [value, (row: SequenceResult) => row.virusScore] : [value]) {
    const [x, y] = [of(a), of(b)];
    if (x === y) continue;
    if (x === null) return 1;
    if (y === null) return -1;
    return x < y === descending ? 1 : -1;
  }
  return a.row - b.row;
}
