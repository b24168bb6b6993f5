import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXAMPLE_FILE } from '../../contract/plan.ts';
import { runRequestSchema, type RunRequest } from '../../contract/rpc/runs.ts';
import type { Precision } from '../../contract/protocol/index.ts';
import { RESULT_FILES } from '../../contract/results.ts';
import type { AppPaths } from '../environment/appPaths.ts';

interface ExampleComparison {
  matches: boolean;
  /** Number of reading frames compared. */
  compared: number;
  message: string;
}

/** Largest allowed difference of a score from the stored one, which was computed in FP32 on a CPU. */
const TOLERANCE: Record<Precision, number> = { fp32: 1e-4, fp16: 5e-3, bf16: 5e-2, fp8: 2e-1 };

export const exampleInput = (paths: AppPaths): string => join(paths.resources, EXAMPLE_FILE);
const expectedScores = (paths: AppPaths): string => join(paths.resources, 'example_expected.tsv');

/**
 * Requests a run of fragments of crAssphage among contigs of a gut with the teaching model; it needs no choices
 * and no download.
 */
export async function exampleRequest(paths: AppPaths, outputDir: string): Promise<RunRequest> {
  return runRequestSchema.parse({
    inputs: [await lastingExample(paths)],
    outputDir,
    name: 'Example',
    model: 'teaching',
    devices: 'auto',
    force: true,
  });
}

/**
 * A copy of the example in the data folder: the program may be moved before the run is resumed, or be mounted
 * elsewhere at each start, like an AppImage.
 */
async function lastingExample(paths: AppPaths): Promise<string> {
  const [example, copy] = [exampleInput(paths), join(paths.dataDir, EXAMPLE_FILE)];
  try {
    await mkdir(paths.dataDir, { recursive: true });
    await writeFile(copy, await readFile(example));
    return copy;
  } catch {
    // The data folder can't be written to, so the run is stored elsewhere.
    return example;
  }
}

/** Compares the example's scores, frame by frame, with those of a working installation. */
export async function compareExample(
  paths: AppPaths,
  folder: string,
  precision: Precision,
): Promise<ExampleComparison> {
  const [expected, actual] = await Promise.all(
    [expectedScores(paths), join(folder, RESULT_FILES.originalFrames)].map(async (file) =>
      parseScores(await readFile(file, 'utf8')),
    ),
  );
  return compareScores(expected ?? new Map(), actual ?? new Map(), TOLERANCE[precision]);
}

export function compareScores(
  expected: ReadonlyMap<string, number>,
  actual: ReadonlyMap<string, number>,
  tolerance: number,
): ExampleComparison {
  const missing = [...expected.keys()].filter((frame) => !actual.has(frame)).length;
  const surplus = [...actual.keys()].filter((frame) => !expected.has(frame)).length;
  let largest = 0;
  for (const [frame, score] of expected) {
    const difference = Math.abs(score - (actual.get(frame) ?? score));
    largest = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : Math.max(largest, difference);
  }
  const compared = expected.size - missing;
  if (missing > 0 || surplus > 0 || expected.size === 0) {
    const message = `This installation found other reading frames than expected: ${missing} missing, ${surplus} too many.`;
    return { matches: false, compared, message };
  }
  const difference = `largest difference ${largest.toExponential(1)}`;
  return largest <= tolerance
    ? {
        matches: true,
        compared,
        message: `This installation gives the expected answers (${compared} reading frames, ${difference}).`,
      }
    : {
        matches: false,
        compared,
        message: `This installation gives other scores than expected (${difference}, allowed ${tolerance}).`,
      };
}

/** score2 by frame id, from a table in the original tool's format. */
export function parseScores(table: string): Map<string, number> {
  const lines = table.trimEnd().split('\n').slice(1);
  return new Map(
    lines.map((line) => {
      const [frame = '', , , score2] = line.split('\t');
      return [frame, Number(score2)];
    }),
  );
}
