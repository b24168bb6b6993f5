import { expect, it } from 'vitest';
import { compute, preparedRun } from '../store/testing/storeFixture.ts';
import { recordOf, type SyntheticRecord } from '../store/testing/syntheticRun.ts';
import { NO_DETAILS } from '../../contract/samples.ts';
import { viralShare } from '../../contract/results.ts';
import { runOptionsSchema } from '../store/types.ts';
import { detailsOf, samplesOf, summariseSamples } from './samples.ts';

it('puts the samples of a group together, its controls last', () => {
  const of = (group: string | null, control = false) => ({ group, note: null, control });
  const details = [of('gut', true), of('soil'), of('gut'), of(null), of('soil', true)];
  const ordered = summariseSamples(['blank', 'S1', 'G1', 'loose', 'S0'], [], details);
  expect(ordered.map(({ sample, group, control }) => [sample, group, control])).toEqual([
    ['G1', 'gut', false],
    ['blank', 'gut', true],
    ['S1', 'soil', false],
    ['S0', 'soil', true],
    ['loose', null, false],
  ]);
});

it("uses the user's names, if there is one for each file", () => {
  const inputs = ['/d/a_R1.fastq.gz', '/d/a_R2.fastq.gz'].map((path) => ({ path })) as never;
  const samples = (named: unknown) =>
    samplesOf({ description: { options: runOptionsSchema.parse({ samples: named }) } as never, inputs });
  expect(samples(['x', 'y'])).toEqual(['x', 'y']);
  for (const named of [undefined, ['x'], ['x', ''], 'x']) expect(samples(named)).toEqual(['a', 'a']);
});

it('has the details of a sample sheet if there are some for each file', () => {
  const inputs = ['/d/a.fa', '/d/b.fa'].map((path) => ({ path })) as never;
  const details = (sampleDetails: unknown) =>
    detailsOf({ description: { options: runOptionsSchema.parse({ sampleDetails }) } as never, inputs });
  const one = { group: 'gut', note: 'day 3', control: true };
  expect(details([one, NO_DETAILS])).toEqual([one, NO_DETAILS]);
  for (const stored of [undefined, [one], [one, {}], 'x']) expect(details(stored)).toBeNull();
});
const faulty: SyntheticRecord = { header: 'none', length: 7, openFrames: [], fault: 'malformed_record' };
const named = (name: string, chunks: number): SyntheticRecord =>
  recordOf(name, Array<number>(chunks).fill(1));

it('counts the sequences, calls and bases of each sample, with all counts different', async () => {
  const viral = Array.from({ length: 5 }, (_, i) => named(`virus_${i}`, 1));
  const run = await preparedRun(
    [
      [...viral, named('other_0', 2), named('other_1', 3), faulty],
      [named('virus_5', 4), recordOf('closed', [0]), recordOf('closed', [0]), faulty],
      [named('virus_6', 6)],
    ],
    4,
    { model: { name: '500', notice: null } },
  );
  const isVirus = (row: number): boolean => row < 5 || row === 8;
  const parts = await run.store.pendingParts();
  for (const { key } of parts.slice(0, -1)) await compute(run, key, ({ row }) => (isVirus(row) ? 0.9 : 0.1));
  await run.store.skipParts([parts.at(-1)!.key]);
  await run.store.writeTables();
  const perInput = await run.store.inputSummaries();
  await run.store.close();
  const [pair, single] = summariseSamples(['pair', 'pair', 'single'], perInput, null);
  expect(pair).toEqual({
    ...NO_DETAILS,
    sample: 'pair',
    inputs: [0, 1],
    sequences: 12,
    bases: 5 * 500 + 993 + 1493 + 7 + 1993 + 500 + 500 + 7,
    byPrediction: { virus: 6, others: 2, not_scored: 4, failed: 0 },
  });
  expect(single).toMatchObject({ sequences: 1, byPrediction: { failed: 1 } });
  expect(viralShare(pair!.byPrediction)).toBe(0.75);
  expect(viralShare(single!.byPrediction)).toBeNull();
  const apart = summariseSamples(['a', 'b', 'a', 'empty'], perInput, null);
  expect(apart.map(({ sample, inputs, sequences }) => [sample, inputs, sequences])).toEqual([
    ['a', [0, 2], 9],
    ['b', [1], 4],
    ['empty', [3], 0],
  ]);
});
