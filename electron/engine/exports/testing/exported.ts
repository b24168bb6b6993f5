import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { RunStore } from '../../store/runStore.ts';
import { temporaryFolder, testContext } from '../../testing/testContext.ts';
import { exportResults, type ExportRequest } from '../exportResults.ts';

export const BY_ROW = { by: 'row', descending: false } as const;

/** Exports a run, all of it in the order of its sequences if nothing else is asked, and returns the file's path. */
export async function exported(
  store: RunStore,
  format: string,
  asked: Partial<ExportRequest> = {},
): Promise<string> {
  const path = asked.path ?? join(temporaryFolder(), `export.${format}`);
  const environment = () => Promise.resolve(testContext().environment);
  const whole = {
    selection: { filter: {} },
    sort: BY_ROW,
    format,
    path,
    language: 'en',
    environment,
  } as const;
  const { bytes } = await exportResults(store, { ...whole, ...asked });
  if (asked.path === undefined) {
    expect(bytes).toBe(statSync(path).size);
    // No incomplete file, and no temporary one.
    expect(readdirSync(dirname(path))).toEqual([basename(path)]);
  }
  return path;
}

/** The lines of a table without quotes, cut into cells. */
export const cellsOf = (path: string): string[][] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
