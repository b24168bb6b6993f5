import { sequenceSortSchema, type SequenceResult, type SequenceSort } from '../../../contract/columns.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { evidenceSchema, reasonSchema } from '../../../contract/results.ts';
import { type SequenceFilter } from '../../../contract/rpc/results.ts';
import { randomNumbers } from '../../testing/randomNumbers.ts';
import { compute, preparedRun } from '../testing/storeFixture.ts';
import { madeUpResults, writeMadeUpResults } from '../testing/madeUpResults.ts';
import { recordOf } from '../testing/syntheticRun.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
import { orderOf } from './selection.ts';
import { sequenceQueryMethods } from './sequenceQueries.ts';
describe("a window's queries about the results", () => {
  const NAMES = ['=bad,name', 'alpha', 'BETA 100% sure', 'gamma_x', 'closed'];
  let run: Awaited<ReturnType<typeof preparedRun>>;

  beforeAll(async () => {
    const record = (name: string, chunks: number) => recordOf(name, new Array<number>(chunks).fill(1));
    run = await preparedRun([
      [record(NAMES[0]!, 1), record(NAMES[1]!, 2), record(NAMES[2]!, 3)],
      [record(NAMES[3]!, 1), recordOf(NAMES[4]!, [0])],
    ]);
    // Rows 0 to 3 score 0.2, 0.4, 0.6 and 0.8.
    for (const { key } of run.prepared.parts) {
      await compute(run, key, ({ row }) => Math.fround(0.2 * (row + 1)));
    }
    await run.store.writeTables();
  });

  it('finds sequences on the shortlist, combined with other filters', async () => {
    const shortlisted = async (filter: SequenceFilter, marked: number[]) => {
      const selection = { filter: { ...filter, shortlisted: true as const }, marked };
      return (await run.store.findSequences(selection, { by: 'row', descending: false }, 0, 100)).items.map(
        ({ row }) => row,
      );
    };
    expect(await shortlisted({}, [1, 3])).toEqual([1, 3]);
    expect(await shortlisted({}, [1])).toEqual([1]);
    expect(await shortlisted({ minScore: 0.5 }, [1, 3, 4])).toEqual([3]);
    expect(await shortlisted({}, [])).toEqual([]);
  });

  it('counts calls and sequences without a score by length, the filter applied', async () => {
    const { items } = await run.store.findSequences({ filter: {} }, { by: 'row', descending: false }, 0, 100);
    const expected = [0, 600, 1200].map((from, i, edges) => {
      const to = edges[i + 1] ?? null;
      const inside = items.filter(({ length }) => length >= from && length < (to ?? Infinity));
      const count = (call: string) => inside.filter(({ prediction }) => prediction === call).length;
      return { from, to, virus: count('virus'), others: count('others'), not_scored: count('not_scored') };
    });
    expect(await run.store.lengthBins({ filter: {} }, [0, 600, 1200])).toEqual(expected);
    expect(expected.map(({ not_scored: none }) => none)).toEqual([1, 0, 0]);
    const [long] = await run.store.lengthBins({ filter: { minLength: 1200 } }, [0]);
    expect(long).toMatchObject({ from: 0, to: null, not_scored: 0 });
    expect((long?.virus ?? 0) + (long?.others ?? 0)).toBe(1);
  });

  it('counts scored sequences of each call in bins, the filter applied', async () => {
    const { virus, others } = await run.store.scoreBins({ filter: {} }, 5);
    expect(virus.map((count, bin) => count + (others[bin] ?? 0))).toEqual([0, 1, 1, 1, 1]);
    expect(virus.slice(0, 2)).toEqual([0, 0]);
    expect(others.slice(3)).toEqual([0, 0]);
    expect((await run.store.scoreBins({ filter: { input: 1 } }, 5)).virus).toEqual([0, 0, 0, 0, 1]);
  });

  it('counts no score of a sequence whose other chunk has failed', async () => {
    const own = await preparedRun([[recordOf('partly failed', [1, 1])]]);
    for (const { key } of own.prepared.parts)
      await compute(own, key, ({ chunk }) => (chunk === 0 ? 0.9 : NaN));
    expect(
      await own.store.findSequences({ filter: {} }, { by: 'row', descending: false }, 0, 1),
    ).toMatchObject({
      items: [{ prediction: 'failed', virusScore: Math.fround(0.9) }],
    });
    expect(await own.store.scoreBins({ filter: {} }, 2)).toEqual({ virus: [0, 0], others: [0, 0] });
    await own.store.close();
  });

  it('gives rows in any order, and their sequences and scored chunks in that order', async () => {
    const { store } = run;
    const order = await store.selectedRows(
      { filter: { minScore: 0.3 } },
      { by: 'virusScore', descending: true },
    );
    expect([...order]).toEqual([3, 2, 1]);
    expect((await store.sequencesOf(order)).map(({ seqName }) => seqName)).toEqual([
      'gamma_x',
      'BETA',
      'alpha',
    ]);
    const chunks = await store.scoredChunksOf(order);
    expect(chunks.map((own) => own.map(({ chunk, frame }) => `${chunk}${frame}`))).toEqual([
      ['0F1'],
      ['0F1', '1F1', '2F1'],
      ['0F1', '1F1'],
    ]);
    const sequences = await store.sequencesOf(order);
    expect(await store.ribbonsOf(sequences)).toEqual([[80], [60, 60, 60], [-40, -40]]);
    expect(await store.ribbonsOf([{ row: 4, nChunks: 1 }])).toEqual([[]]);
    await expect(store.sequencesOf(Uint32Array.of(99))).rejects.toThrow('changed');
  });

  it('draws for each chunk the score that decides its call, and for several chunks the most decided one', async () => {
    const chunks = new Array<number>(90).fill(1);
    const own = await preparedRun([[recordOf('two frames', [3]), recordOf('long', chunks)]]);
    const score = ({ row, chunk, frame }: { row: number; chunk: number; frame: number }) =>
      row === 0 ? (frame === 0 ? 0.05 : 0.88) : chunk % 2 === 0 ? 0.6 : 0.1;
    for (const { key } of own.prepared.parts) await compute(own, key, score);
    const [decided, long] = await own.store.ribbonsOf([
      { row: 0, nChunks: 1 },
      { row: 1, nChunks: 90 },
    ]);
    expect(decided).toEqual([-5]);
    expect(long).toEqual(new Array<number>(45).fill(-10));
    await own.store.close();
  });

  it('counts bases by input', async () => {
    const [first, second] = await run.store.inputSummaries();
    expect(first).toMatchObject({ input: 0, sequences: 3, bases: 500 + 993 + 1493 });
    expect(second).toMatchObject({ bases: 1000 });
  });

  it('writes row numbers for extracting sequences from the inputs', async () => {
    const path = join(run.folder, 'rows');
    expect(await run.store.writeSelectedRows({ filter: { minScore: 0.5 } }, path)).toBe(2);
    expect([...new Uint32Array(new Uint8Array(readFileSync(path)).buffer)]).toEqual([2, 3]);
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
    for (const { key } of run.prepared.parts) await compute(run, key, () => Math.fround(random()));
    await run.store.writeTables();
    all = await run.store.sequencesOf(Uint32Array.from({ length: 150 }, (_, row) => row));
  });

  it('are filtered, sorted, paged and counted like a plain loop does', async () => {
    const filters = fc.record(
      {
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
        reasons: fc.subarray(['ok', 'no_open_frame', 'not_computed'] as const),
        search: fc.constantFrom('C1', 'len=3', '5', 'ß', '%', '_'),
      },
      { requiredKeys: [] },
    );
    const sorts = fc.record({
      by: fc.constantFrom(...sequenceSortSchema.shape.by.options),
      descending: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(filters, sorts, fc.nat(60), async (filter, sort, offset) => {
        const expected = all.filter((row) => passes(row, filter)).sort((a, b) => compared(a, b, sort));
        const found = await run.store.findSequences({ filter }, sort, offset, 20);
        expect(found).toEqual({ total: expected.length, items: expected.slice(offset, offset + 20) });
        const { byPrediction } = await run.store.countPredictions({ filter });
        const viruses = expected.filter(({ prediction }) => prediction === 'virus');
        expect(byPrediction.virus).toBe(viruses.length);
      }),
      { numRuns: 300 },
    );
  });

  it('are the same from results.parquet, once the run is done', async () => {
    const { files } = await run.store.writeTables();
    await run.store.saveResultFiles(files);
    await run.store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
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

const isAtLeast = (value: number | null, least: number | undefined): boolean =>
  least === undefined || (value !== null && value >= least);

function compared(a: SequenceResult, b: SequenceResult, { by, descending }: SequenceSort): number {
  const value = (row: SequenceResult) => {
    if (by === 'reason') return row.reason === 'ok' ? null : reasonSchema.options.indexOf(row.reason);
    if (by !== 'evidence') return row[by];
    // From the most certain virus to the most certain other sequence, and by score within a level.
    const level = row.evidence && evidenceSchema.options.indexOf(row.evidence) + 1;
    return level && 10 * (row.prediction === 'virus' ? level : -level) + row.virusScore!;
  };
  const [x, y] = [value(a), value(b)];
  if (x === y) return a.row - b.row;
  if (x === null) return 1;
  if (y === null) return -1;
  return x < y === descending ? 1 : -1;
}
