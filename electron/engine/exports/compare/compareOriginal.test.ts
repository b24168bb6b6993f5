import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESULT_FILES } from '../../../contract/results.ts';
import type { DifferingChunk } from '../../../contract/rpc/results.ts';
import { compute, preparedRun, type PreparedRun } from '../../store/testing/storeFixture.ts';
import { recordOf } from '../../store/testing/syntheticRun.ts';
import { compareWithOriginal, writeOriginalComparison } from './compareOriginal.ts';
import { isOriginalResult } from './originalResults.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';

const folder = temporaryFolder();
let run: PreparedRun;

beforeAll(async () => {
  run = await preparedRun([
    [
      recordOf('phage first', [3, 1]),
      recordOf('host', [3]),
      // Without a name, the original writes it as _chunk_1.
      recordOf('', [1]),
      recordOf('mate', [1]),
      recordOf('mate', [1]),
      recordOf('closed', [0]),
    ],
  ]);
  for (const { key } of await run.store.pendingParts())
    await compute(run, key, ({ row, frame }) => (row === 0 ? 0.8 + frame / 100 : 0.2 - frame / 100));
  await run.store.writeTables();
});
afterAll(async () => {
  await run.store.close();
});

const linesOf = (name: string): string[] =>
  readFileSync(join(run.folder, name), 'utf8').trimEnd().split('\n');

function file(name: string, lines: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

async function compared(path: string) {
  const differing: DifferingChunk[] = [];
  const found = await compareWithOriginal(run.store, path, (one) => void differing.push(one));
  return { ...found, differing };
}

describe('a run beside a result file of the original tool', () => {
  it('agrees with its own numbers in every chunk and reading frame', async () => {
    const found = await compared(file('prediction_results.txt', linesOf(RESULT_FILES.originalFrames)));
    expect(found).toMatchObject({
      inBoth: 4,
      sameCall: 4,
      calls: { virus: { virus: 2, others: 0 }, others: { virus: 0, others: 2 } },
      ...{ onlyInRun: 0, onlyInFile: 0, scores: { compared: 4, largestDifference: 0 } },
      differing: [],
    });
    const chunks = await compared(file('highestscore.csv', linesOf(RESULT_FILES.originalChunks)));
    expect(chunks).toMatchObject({ inBoth: 4, sameCall: 4, scores: null });
  });

  it('leaves out and counts chunks with ambiguous ids', async () => {
    // Both mates have the same id, which their two lines share.
    const found = await compared(file('prediction_results.txt', linesOf(RESULT_FILES.originalFrames)));
    expect(found.ambiguous).toBe(1);
    const twice = linesOf(RESULT_FILES.originalChunks).flatMap((line) =>
      line.startsWith('host_') ? [line, line] : [line],
    );
    expect(await compared(file('highestscore.csv', twice))).toMatchObject({ ambiguous: 2, inBoth: 3 });
  });

  it('reports chunks with another call, and those that only one of both has', async () => {
    const [head = '', ...frames] = linesOf(RESULT_FILES.originalFrames);
    const changed = frames.flatMap((line) => {
      if (line.startsWith('phage_chunk_2F1')) return [];
      // One frame that is more decided than the other turns the chunk.
      if (line.startsWith('phage_chunk_1F2')) return ['phage_chunk_1F2\tothers\t0.9\t0.1'];
      return [line];
    });
    const path = file('prediction_results.txt', [
      head,
      ...changed,
      'host_chunk_1R1\tothers\t0.9\t0.1',
      'gone_chunk_1F1\tvirus\t0.1\t0.9',
    ]);
    const found = await compared(path);
    expect(found).toMatchObject({
      inBoth: 3,
      sameCall: 2,
      calls: { virus: { virus: 0, others: 1 }, others: { virus: 0, others: 2 } },
      ...{ onlyInRun: 1, onlyInFile: 1 },
    });
    expect(found.scores?.largestDifference).toBeCloseTo(0.01, 6);
    expect(found.scores?.meanAbsoluteDifference).toBeCloseTo(0.01 / 3, 6);
    expect(found.differing).toMatchObject([
      {
        row: 0,
        seqName: 'phage',
        chunk: 1,
        start: 1,
        run: { call: 'virus' },
        file: { call: 'others', score1: Math.fround(0.9), score2: Math.fround(0.8) },
      },
    ]);
    const out = join(folder, 'differing.tsv');
    await writeOriginalComparison(run.store, path, out);
    const [, line] = readFileSync(out, 'utf8').split('\n');
    expect(line!.split('\t').slice(0, 6)).toEqual(['phage', '1', '1', '1', expect.any(String), 'virus']);
  });

  it.each([
    ['another table', ['Sequence_ID\tPrediction', 'host_chunk_1F1\tvirus']],
    ['an id of no frame', ['Sequence_ID\tPrediction\tscore1\tscore2', 'host_chunk_1\tvirus\t0.1\t0.9']],
    ['no number', ['Sequence_ID\tPrediction\tscore1\tscore2', 'host_chunk_1F1\tvirus\t0.1\t']],
    ['a cut line', ['Modified_ID\tIs_Virus', 'host_chunk_1\tTrue', 'phage_chu']],
  ])('is refused if it holds %s', async (_, lines) => {
    await expect(compared(file('damaged.txt', lines))).rejects.toMatchObject({ error: { code: 'usage' } });
  });

  it('is recognised by its first line', async () => {
    expect(await isOriginalResult(join(run.folder, RESULT_FILES.originalChunks))).toBe(true);
    const others = [join(run.folder, RESULT_FILES.sequences), file('contigs.fa', ['>a', 'ACGT']), run.folder];
    for (const path of [...others, '/nowhere/at/all']) expect(await isOriginalResult(path)).toBe(false);
  });
});
