import type { SequenceResult } from '../../../../../contract/columns.ts';
import { BEST_SO_FAR } from '../../../../../contract/filter.ts';
import { evidenceSchema } from '../../../../../contract/results.ts';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  compute,
  computeAll,
  preparedRun,
  reportPrepare,
  type PreparedRun,
} from '../../../testing/storeFixture.ts';
import { recordOf, type SyntheticRecord } from '../../../testing/syntheticRun.ts';
/**
 * Records without a frame at both ends and between parts, one across several parts, and one that ends where
 * its part does.
 */
const RECORDS: SyntheticRecord[] = [
  { header: 'empty_first', length: 0, openFrames: [], fault: 'empty' },
  recordOf('a', [3, 5]),
  recordOf('b', [63]),
  recordOf('no_open_frame', [0, 0]),
  recordOf('long', [63, 63, 63, 63, 63]),
  recordOf('c', [1, 2, 4]),
  { header: 'empty_last', length: 0, openFrames: [], fault: 'empty' },
];

const ORDER = { by: 'row', descending: false } as const;

async function found({ store }: PreparedRun): Promise<SequenceResult[]> {
  return (await store.findSequences({ filter: {} }, ORDER, 0, 1000)).items;
}

/** Names of the completely computed sequences. */
async function namesFound(run: PreparedRun): Promise<string[]> {
  return (await found(run)).filter(({ settled }) => settled).map(({ seqName }) => seqName);
}

/** Checks that the results in memory, built part by part, equal those of the database. */
async function expectOrdersAsStored(run: PreparedRun): Promise<void> {
  const rows = await found(run);
  for (const by of ['length', 'nChunks', 'virusScore'] as const) {
    const { items } = await run.store.findSequences({ filter: {} }, { by, descending: false }, 0, 1000);
    const value = (sequence: SequenceResult): number => sequence[by] ?? Infinity;
    expect(items).toEqual(rows.toSorted((a, b) => value(a) - value(b) || a.row - b.row));
  }
}

/** Spreads the chunks of every sequence over three rounds. */
const roundOf = (row: number, chunk: number): number => (row + chunk) % 3;

describe('results of an unfinished run', () => {
  it('are final for records whose chunks are all there, in whatever order parts and rounds arrive', async () => {
    const contigs = Array.from({ length: 8 }, (_, i) =>
      recordOf(`contig_${i}`, [i, 3, 0, 5 * i, 63].slice(i % 4)),
    );
    const run = await preparedRun([RECORDS, contigs], { framesPerPart: 7, roundOf });
    const parts = await run.store.pendingParts();
    expect(new Set(parts.map(({ round }) => round))).toEqual(new Set([0, 1, 2]));
    const all = [...RECORDS, ...contigs].map(() => 0);
    for (const frames of run.prepared.frames.values()) for (const { row } of frames) all[row]! += 1;
    const left = [...all];
    let unsettled = 0;
    const early = new Map<number, SequenceResult>();
    for (const { key } of parts.toSorted((a, b) => b.round - a.round || a.frames - b.frames)) {
      await compute(run, key);
      for (const { row } of run.prepared.frames.get(key)!) left[row]! -= 1;
      const rows = await found(run);
      await expectOrdersAsStored(run);
      expect(rows.map(({ row }) => row)).toEqual(
        all.flatMap((frames, row) => (frames === 0 || left[row]! < frames ? [row] : [])),
      );
      for (const sequence of rows) {
        const { row, nFramesScored, virusScore } = sequence;
        if (left[row]! > 0) {
          expect(nFramesScored).toBe(all[row]! - left[row]!);
          expect(virusScore).not.toBeNull();
          if (!sequence.settled) unsettled += 1;
          continue;
        }
        expect(sequence.settled).toBe(true);
        expect(sequence).toEqual(early.get(sequence.row) ?? sequence);
        early.set(sequence.row, sequence);
      }
    }
    expect(unsettled).toBeGreaterThan(10);
    await run.store.writeTables();
    expect(await found(run)).toEqual([...early.values()].sort((a, b) => a.row - b.row));
    await run.store.close();
  });

  it('never take back what was the best so far, in whatever order parts arrive', async () => {
    const place = ({ evidence, virusScore }: SequenceResult): number =>
      evidenceSchema.options.indexOf(evidence ?? 'undecided') + (virusScore ?? 0) / 2;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.integer({ min: 0, max: 63 }), { minLength: 1, maxLength: 6 }), {
          minLength: 3,
          maxLength: 12,
        }),
        fc.infiniteStream(fc.nat()),
        async (contigs, turns) => {
          const records = contigs.map((frames, i) => recordOf(`contig_${i}`, frames));
          const run = await preparedRun([records], { framesPerPart: 5, roundOf });
          const parts = await run.store.pendingParts();
          const shown = new Map<number, SequenceResult>();
          let before: SequenceResult[] = [];
          while (parts.length > 0) {
            const [part] = parts.splice((turns.next().value ?? 0) % parts.length, 1);
            await compute(run, part!.key);
            const { filter, sort } = BEST_SO_FAR;
            const { items: now } = await run.store.findSequences({ filter }, sort, 0, 5);
            for (const hit of now) {
              expect(hit).toEqual(shown.get(hit.row) ?? hit);
              shown.set(hit.row, hit);
            }
            expect(now.length).toBeGreaterThanOrEqual(before.length);
            for (const [i, hit] of before.entries())
              expect(place(now[i]!)).toBeGreaterThanOrEqual(place(hit));
            before = now;
          }
          await run.store.close();
        },
      ),
      { numRuns: 6 },
    );
  });

  it('show which sequences were not computed if the rest is given up, and change back on a retry', async () => {
    const run = await preparedRun([RECORDS], 10);
    const [first, ...rest] = (await run.store.pendingParts()).map(({ key }) => key);
    await compute(run, first!);
    expect(await run.store.skipParts([...rest, '000099'])).toEqual(rest);
    expect((await run.store.counts()).parts).toMatchObject({ done: 1, skipped: rest.length });
    const missing = (await found(run)).filter(({ prediction }) => prediction === 'failed');
    expect(missing.map(({ seqName, reason }) => [seqName, reason])).toEqual([
      ['long', 'not_computed'],
      ['c', 'not_computed'],
    ]);
    const { counts } = await run.store.writeTables();
    expect(counts).toMatchObject({ failedParts: rest.length, byReason: { not_computed: 2 } });

    await run.store.retryFailed('all');
    expect(await namesFound(run)).toEqual(['empty_first', 'a', 'b', 'no_open_frame', 'empty_last']);
    await computeAll(run);
    expect((await found(run)).filter(({ prediction }) => prediction === 'failed')).toEqual([]);
    expect(await namesFound(run)).toHaveLength(RECORDS.length);
    await run.store.close();
  });

  it('do not cost a part its scores if another part of the same record is damaged', async () => {
    const run = await preparedRun([[recordOf('long', [63, 63, 63])]], 10);
    const keys = (await run.store.pendingParts()).map(({ key }) => key);
    await compute(run, keys[0]!);
    await compute(run, keys[1]!);
    const db = new Database(join(run.folder, 'run.db'));
    db.exec(`UPDATE chunk SET scores = x'00' WHERE chunk = 0`);
    db.close();
    expect(await compute(run, keys[2]!)).toMatchObject({ outcome: 'taken' });
    await expect(namesFound(run)).rejects.toMatchObject({ error: { code: 'run_damaged' } });
    expect(await run.store.repairDamage()).toHaveLength(1);
    await reportPrepare(run.store, run.prepared);
    expect((await run.store.pendingParts()).map(({ key }) => key)).toEqual([keys[0]]);
    await computeAll(run);
    expect(await namesFound(run)).toEqual(['long']);
    await run.store.close();
  });
});
