import type { SequenceResult } from '../../../contract/columns.ts';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunStore } from '../../store/runStore.ts';
import type { StoredRun } from '../../store/types.ts';
import { inputLabels } from '../../results/cellText.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
import { markSequence } from '../../store/shortlist.ts';
import { compareRuns, writeComparison, type ComparedSequence } from './compareRuns.ts';
import { ComparisonPages } from './listedSequences.ts';

type Short = [name: string, length: number, prediction: SequenceResult['prediction'], score: number | null];
interface File {
  path: string;
  sha256: string;
  sequences: Short[];
  sample?: string;
}

/** Two of them have inputs of the same name, and not the same content. */
const runOf = (...sequences: Short[]): RunStore =>
  runOfFiles({ path: '/a.fa', sha256: JSON.stringify(sequences), sequences });

function runOfFiles(...files: File[]): RunStore {
  const rows = files
    .flatMap(({ sequences }, input) => sequences.map((one) => ({ one, input })))
    .map(({ one: [seqName, length, prediction, virusScore], input }, row) => ({
      ...{ row, input, seqName, length, prediction, virusScore },
    }));
  const store: Partial<RunStore> = {
    loadRun: () => {
      const samples = files.map(({ sample }) => sample);
      const description = { options: samples.includes(undefined) ? {} : { samples } };
      return Promise.resolve({ inputs: files, description } as unknown as StoredRun);
    },
    selectedRows: () => Promise.resolve(Uint32Array.from(rows, ({ row }) => row)),
    sequencesOf: (wanted) => Promise.resolve(Array.from(wanted, (row) => rows[row] as SequenceResult)),
  };
  return store as RunStore;
}

it('compares the sequences of two runs by name and length, the n-th of equal ones with the n-th', async () => {
  const first = runOf(
    ['a', 500, 'virus', 0.9],
    ['twice', 300, 'virus', 0.8],
    ['twice', 300, 'others', 0.1],
    ['gone', 700, 'virus', 0.7],
    ['unscored', 40, 'not_scored', null],
  );
  const second = runOf(
    ['twice', 300, 'others', 0.4],
    ['twice', 300, 'others', 0.1],
    ['a', 500, 'virus', 0.9],
    ['a', 501, 'virus', 0.9],
    ['unscored', 40, 'not_scored', null],
  );
  const changed: ComparedSequence[] = [];
  const comparison = await compareRuns(first, second, (one) => void changed.push(one));
  expect(comparison).toMatchObject({ inBoth: 4, onlyInFirst: 1, onlyInSecond: 1, sameCall: 3 });
  expect(comparison).toMatchObject({ matchedByOrder: 2, changedInputs: ['a.fa'] });
  expect(comparison.calls.virus).toEqual({ virus: 1, others: 1, not_scored: 0, failed: 0 });
  expect(changed.map(({ first: one, second: other }) => [one.row, other.row])).toEqual([[1, 0]]);
  const listed: ComparedSequence[] = [];
  await compareRuns(
    first,
    second,
    (one) => void listed.push(one),
    (row, other) => row === 0 && other === 2,
  );
  expect(listed.map((one) => [one.seqName, one.first.row, one.second.row])).toEqual([
    ['a', 0, 2],
    ['twice', 1, 0],
  ]);
  expect(comparison.scores?.compared).toBe(3);
  expect(comparison.scores?.largestDifference).toBeCloseTo(0.4, 9);
  expect(comparison.scores?.meanAbsoluteDifference).toBeCloseTo(0.4 / 3, 9);
  expect(comparison.scores?.correlation).toBeCloseTo(0.85148509, 7); // The value of Python's statistics.correlation.
});

it('writes a table of the sequences whose call changed, and compares scores only where both runs have one', async () => {
  const first = runOf(
    ['certain', 500, 'virus', 1],
    ['lost', 600, 'virus', 0.75],
    ['gained', 700, 'not_scored', null],
    ['nothing', 40, 'not_scored', null],
  );
  const second = runOf(
    ['nothing', 40, 'failed', null],
    ['certain', 500, 'virus', 1],
    ['lost', 600, 'failed', null],
    ['gained', 700, 'others', 0.25],
  );
  const path = join(temporaryFolder(), 'run 1.5', 'changed.tsv');
  mkdirSync(dirname(path));
  const { scores, sameCall } = await writeComparison(first, second, path);
  expect(scores?.compared).toBe(1);
  expect(sameCall).toBe(1);
  expect(
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t')),
  ).toEqual([
    ['seq_name', 'length', 'no_1', 'prediction_1', 'virus_score_1', 'no_2', 'prediction_2', 'virus_score_2'],
    ['lost', '600', '2', 'virus', '0.75', '3', 'failed', 'NA'],
    ['gained', '700', '3', 'not_scored', 'NA', '4', 'others', '0.25'],
    ['nothing', '40', '4', 'not_scored', 'NA', '1', 'failed', 'NA'],
  ]);
  expect(readFileSync(join(dirname(path), 'changed_agreement.tsv'), 'utf8')).toBe(
    'sample\tfile\tcalled\tsame_call\tkappa\nNA\tNA\t1\t1\tNA\na\ta.fa\t1\t1\tNA\n',
  );
});

it('lists all sequences on the shortlist of either run, page by page', async () => {
  const many = Array.from({ length: 600 }, (_, i): Short => [`s${i}`, 500, 'virus', 0.9]);
  const storeOf = (sequences: readonly Short[]): RunStore => ({
    ...runOf(...sequences),
    folder: temporaryFolder(),
    ribbonsOf: (rows) => Promise.resolve(rows.map(({ row }) => [row % 100])),
  });
  const [first, second] = [storeOf(many), storeOf(many.toReversed())];
  for (let row = 0; row < 210; row++) markSequence(first.folder, { row, seqName: `s${row}` }, true);
  // The last one of the first run.
  markSequence(second.folder, { row: 0, seqName: 's599' }, true);
  const pages = new ComparisonPages();
  const ask = { list: 'shortlisted', limit: 200 } as const;
  const rowsFrom = async (offset: number) => {
    const { total, items } = await pages.page(first, second, { ...ask, offset });
    expect(total).toBe(211);
    return items.map((one) => [one.seqName, one.first.row, one.second.row, one.second.ribbon[0]]);
  };
  expect((await pages.compare(first, second)).shortlisted).toBe(211);
  const rows = [...(await rowsFrom(0)), ...(await rowsFrom(200))];
  expect(rows).toHaveLength(211);
  expect(rows[209]).toEqual(['s209', 209, 390, 90]);
  expect(rows[210]).toEqual(['s599', 599, 0, 0]);
});

describe('two runs of several files', () => {
  const reads = (score: number): Short[] =>
    Array.from({ length: 5 }, (_, i) => [`r${i}`, 150, 'virus', score - i / 100]);
  const forward: File = { path: '/x/p_R1.fq', sha256: '1', sequences: reads(0.9) };
  const backward: File = { path: '/x/p_R2.fq', sha256: '2', sequences: reads(0.7) };
  const compared = (first: File[], second: File[]) =>
    compareRuns(runOfFiles(...first), runOfFiles(...second), () => undefined);

  it('find files that were moved, renamed or changed, and say what they compared by names alone', async () => {
    const renamed = { ...backward, path: '/y/mates.fq' };
    expect(await compared([forward, backward], [renamed, forward])).toMatchObject({
      inBoth: 10,
      changedInputs: [],
    });
    const changed = { ...backward, path: '/y/p_R2.fq', sha256: '3' };
    expect(await compared([forward, backward], [changed, forward])).toMatchObject({
      ...{ inBoth: 10, changedInputs: ['p_R2.fq'], scores: { largestDifference: 0 } },
      otherInputs: { first: [], second: [] },
    });
    const foreign = { ...backward, path: '/y/all.fq', sha256: '3' };
    expect(await compared([forward, backward], [foreign])).toMatchObject({
      ...{ inBoth: 5, onlyInFirst: 5 },
      otherInputs: { first: ['p_R1.fq', 'p_R2.fq'], second: ['all.fq'] },
      matchedByOrder: 5,
    });
  });

  it('are compared sequence by sequence of each file, whatever the names, as a slow count does', async () => {
    const call = fc.constantFrom<SequenceResult['prediction']>('virus', 'others', 'not_scored', 'failed');
    const one = fc.record({
      name: fc.constantFrom('a', 'b'),
      length: fc.constantFrom(300, 500),
      calls: fc.tuple(call, call),
    });
    const files = fc.array(
      fc.record({
        name: fc.constantFrom('x.fa', 'y.fa'),
        sample: fc.constantFrom('gut', 'sea'),
        sequences: fc.array(one, { maxLength: 8 }),
        place: fc.option(fc.nat()),
      }),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(files, async (all) => {
        const fileOf = (i: number, side: 0 | 1): File => ({
          ...{ path: `/${side}${i}/${all[i]!.name}`, sha256: String(i), sample: all[i]!.sample },
          sequences: all[i]!.sequences.map(({ name, length, calls }) => [name, length, calls[side], null]),
        });
        // The second run has some of the files, in another order.
        const kept = [...all.keys()].filter((i) => all[i]!.place !== null);
        const order = kept.toSorted((i, j) => all[i]!.place! - all[j]!.place!);
        const found = await compared(
          [...all.keys()].map((i) => fileOf(i, 0)),
          order.map((i) => fileOf(i, 1)),
        );
        const slow = (inputs: readonly number[]) => {
          const pairs = inputs
            .flatMap((i) => all[i]!.sequences.map(({ calls }) => calls))
            .filter((calls) => calls.every((each) => each === 'virus' || each === 'others'));
          const share = (of: (calls: (typeof pairs)[number]) => boolean) =>
            pairs.filter(of).length / pairs.length;
          const expected = (['virus', 'others'] as const)
            .map((each) => share(([first]) => first === each) * share(([, second]) => second === each))
            .reduce((sum, product) => sum + product);
          const sameCall = pairs.filter(([first, second]) => first === second).length;
          const kappa = (sameCall / pairs.length - expected) / (1 - expected);
          return {
            called: pairs.length,
            sameCall,
            kappa: Number.isFinite(kappa) ? (expect.closeTo(kappa, 9) as unknown) : null,
          };
        };
        expect(found).toMatchObject({
          inBoth: kept.reduce((sum, i) => sum + all[i]!.sequences.length, 0),
          ...{ matchedByOrder: 0, changedInputs: [] },
        });
        const ofSample = (name: string) => kept.filter((i) => all[i]!.sample === name);
        for (const { sample, file, ...numbers } of found.agreement) {
          const inputs =
            sample === null
              ? kept
              : file === null
                ? ofSample(sample)
                : kept.filter((i) => inputLabels(all.map(({ name }, j) => `/0${j}/${name}`))[i] === file);
          expect(numbers).toEqual(slow(inputs));
        }
        const several = new Set(
          all.flatMap(({ sample }) =>
            all.filter((each) => each.sample === sample).length > 1 ? [sample] : [],
          ),
        );
        expect(found.agreement).toHaveLength(1 + several.size + all.length);
      }),
    );
  });
});
