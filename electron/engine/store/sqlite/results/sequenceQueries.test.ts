import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SequenceFilter, SequenceSort } from '../../../../contract/rpc/results.ts';
import { compute, preparedRun, removeFolders } from '../../testing/storeFixture.ts';
import { recordOf } from '../../testing/syntheticRun.ts';
import { csvCell } from './exportTable.ts';

afterAll(removeFolders);

describe('csvCell', () => {
  it.each([
    ['contig_1', 'contig_1'],
    ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
    ['+SUM(A1)', "'+SUM(A1)"],
    ['-2+3', "'-2+3"],
    ['@cmd', "'@cmd"],
    ['-1.5e-3', '-1.5e-3'],
    ['a,b', '"a,b"'],
    ['two\nlines', '"two\nlines"'],
  ])('%j -> %j', (text, cell) => {
    expect(csvCell(text)).toBe(cell);
  });
});

describe('what a window asks of the results', () => {
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

  const rows = async (filter: SequenceFilter, sort: SequenceSort = { by: 'row', descending: false }) =>
    (await run.store.findSequences({ filter }, sort, 0, 100)).items.map(({ row }) => row);

  it.each<[SequenceFilter, number[]]>([
    [{}, [0, 1, 2, 3, 4]],
    [{ input: 1 }, [3, 4]],
    [{ minScore: 0.5 }, [2, 3]],
    [{ minLength: 600 }, [1, 2]],
    [{ maxLength: 600 }, [0, 3, 4]],
    [{ predictions: ['not_scored'] }, [4]],
    [{ predictions: [] }, []],
    [{ search: 'A' }, [0, 1, 2, 3]],
    [{ search: '100%' }, [2]],
    [{ search: '%' }, [2]],
    [{ search: '_' }, [3]],
    [{ search: 'beta', minScore: 0.9 }, []],
  ])('finds %j', async (filter, found) => {
    expect(await rows(filter)).toEqual(found);
    const { total } = await run.store.countPredictions({ filter });
    expect(total).toBe(found.length);
  });

  it('sorts both ways, with those without a score at the end', async () => {
    expect(await rows({}, { by: 'virusScore', descending: true })).toEqual([3, 2, 1, 0, 4]);
    expect(await rows({}, { by: 'virusScore', descending: false })).toEqual([0, 1, 2, 3, 4]);
    expect(await rows({}, { by: 'nChunks', descending: true })).toEqual([2, 1, 0, 3, 4]);
  });

  it('pages with the whole number beside each page', async () => {
    const page = await run.store.findSequences({ filter: {} }, { by: 'row', descending: false }, 3, 1);
    expect([page.total, page.items.map(({ row }) => row)]).toEqual([5, [3]]);
  });

  it('counts scored sequences in bins, the filter applied', async () => {
    expect(await run.store.scoreBins({ filter: {} }, 5)).toEqual([0, 1, 1, 1, 1]);
    expect(await run.store.scoreBins({ filter: { input: 1 } }, 5)).toEqual([0, 0, 0, 0, 1]);
  });

  it('exports the same cells as sequences.tsv, and the rows picked', async () => {
    const { folder, store } = run;
    const path = join(folder, 'export.tsv');
    const written = await store.exportTable({
      selection: { filter: {} },
      format: 'tsv',
      byteOrderMark: false,
      path,
    });
    expect(readFileSync(path, 'utf8')).toBe(readFileSync(join(folder, 'sequences.tsv'), 'utf8'));
    expect(written).toEqual({ sequences: 5, bytes: readFileSync(path).length });

    const csv = join(folder, 'export.csv');
    await store.exportTable({
      selection: { filter: {}, rows: [0, 3] },
      format: 'csv',
      byteOrderMark: true,
      path: csv,
    });
    const lines = readFileSync(csv, 'utf8').split('\r\n');
    expect(lines).toHaveLength(4);
    expect(lines[0]?.startsWith('\uFEFFseq_name,input,row,')).toBe(true);
    expect(lines[1]?.startsWith(`"'=bad,name",reads_0.fasta,0,`)).toBe(true);
    expect(lines[2]?.startsWith('gamma_x,reads_1.fasta,3,')).toBe(true);
  });

  it('writes the rows for taking sequences out of the inputs', async () => {
    const path = join(run.folder, 'rows');
    expect(await run.store.writeSelectedRows({ filter: { minScore: 0.5 } }, path)).toBe(2);
    expect([...new Uint32Array(new Uint8Array(readFileSync(path)).buffer)]).toEqual([2, 3]);
  });
});
