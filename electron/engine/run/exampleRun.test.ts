import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { APP_PATHS } from '../testing/realFiles.ts';
import { temporaryFolder } from '../testing/testContext.ts';
import { compareScores, exampleRequest, parseScores } from './exampleRun.ts';

const table =
  'Sequence_ID\tPrediction\tscore1\tscore2\na_chunk_1F1\tvirus\t0.1\t0.9\na_chunk_1R2\tothers\t0.7\t0.3\n';

it('reads a copy of the sample, so that it can be resumed after the program was moved', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const { inputs } = await exampleRequest({ ...APP_PATHS, dataDir }, join(dataDir, 'example'));
  expect(inputs).toEqual([join(dataDir, 'example.fa')]);
  expect(await readFile(join(dataDir, 'example.fa'))).toEqual(
    await readFile(join(APP_PATHS.resources, 'example.fa')),
  );
});

describe('comparing the example', () => {
  it('accepts the same scores within the tolerance', () => {
    const expected = parseScores(table);
    expect(compareScores(expected, parseScores(table.replace('0.9', '0.9001')), 1e-3)).toMatchObject({
      matches: true,
      compared: 2,
    });
  });

  it.each([
    ['another score', table.replace('0.9', '0.95')],
    ['a score that is no number', table.replace('0.9', 'NaN')],
    ['a missing frame', table.replace(/a_chunk_1R2.*\n/, '')],
    ['a frame too many', `${table}b_chunk_1F1\tvirus\t0.1\t0.9\n`],
  ])('refuses %s', (_, other) => {
    expect(compareScores(parseScores(table), parseScores(other), 1e-3).matches).toBe(false);
  });
});
