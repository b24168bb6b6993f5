import { stat } from 'node:fs/promises';
import { AppFailure } from '../../../contract/errors.ts';
import { isSheetName } from '../../../contract/folderNames.ts';
import { isBlocking } from '../../../contract/problems.ts';
import type { InspectedFile } from '../../../contract/protocol/index.ts';
import type { InspectEvent } from '../../../contract/rpc/runs.ts';
import { collectInputs, type Walk, inspectInputs, type Reading } from '../../inputs/collectInputs.ts';
import { looksHere } from '../../models/listModels.ts';
import { isSampleSheet, readSampleSheet } from '../../inputs/readSampleSheet.ts';
import { callbackStream } from '../changes.ts';
import type { PythonEnvironmentManager } from './pythonEnvironmentManager.ts';

const REMEMBERED = 1_000;

interface Remembered {
  sizeBytes: number;
  changedAt: number;
  file: InspectedFile;
}

/**
 * Inspects files for the preview, and caches the results: a start right after it need not read them again.
 */
export class Inspections {
  private readonly pythonEnvironment: PythonEnvironmentManager;
  private readonly remembered = new Map<string, Remembered>();
  private readonly ending = new AbortController();

  constructor(pythonEnvironment: PythonEnvironmentManager) {
    this.pythonEnvironment = pythonEnvironment;
  }

  inspect(
    paths: readonly string[],
    asked: Omit<Reading, 'looks'>,
    walk: Walk = {},
  ): AsyncGenerator<InspectEvent, void> {
    return callbackStream<InspectEvent>(
      async (tell, stop) => {
        const reading = { ...asked, looks: await looksHere(this.pythonEnvironment.paths) };
        const collected = await collectInputs(paths, { ...walk, sheets: true, signal: stop });
        if (!collected.ok) throw new AppFailure(collected.error);
        const inputs: string[] = [];
        const sheets: string[] = [];
        for (const path of collected.value.paths)
          (isSheetName(path) && (await isSampleSheet(path)) ? sheets : inputs).push(path);
        tell({ type: 'found', ...collected.value, paths: inputs });
        for (const path of sheets) {
          const sheet = await readSampleSheet(path);
          tell(
            sheet.ok
              ? { type: 'sheet', path, rows: sheet.value, error: null }
              : { type: 'sheet', path, rows: [], error: sheet.error },
          );
        }
        const storing: Promise<void>[] = [];
        const unknown: string[] = [];
        for (const path of inputs) {
          const known = await this.recall(path, reading);
          if (known) tell(known);
          else unknown.push(path);
        }
        if (unknown.length === 0) return;
        const context = await this.pythonEnvironment.context();
        const outcome = await inspectInputs(
          context,
          unknown,
          reading,
          (file) => {
            storing.push(this.remember(file, reading));
            tell(file);
          },
          stop,
        );
        await Promise.all(storing);
        if (!outcome.ok) throw new AppFailure(outcome.error);
      },
      AbortSignal.any([this.ending.signal, ...(walk.signal ? [walk.signal] : [])]),
    );
  }

  /** Ends all inspections. */
  stop(): void {
    this.ending.abort();
  }

  /** The cached result for a file that has not changed since. */
  async recall(path: string, reading: Reading): Promise<InspectedFile | undefined> {
    const known = this.remembered.get(key(path, reading));
    if (!known || reading.looks.some((look) => !(look in known.file.judged))) return undefined;
    const now = await stat(path).catch(() => undefined);
    return now && now.size === known.sizeBytes && now.mtimeMs === known.changedAt ? known.file : undefined;
  }

  /** SHA-256 of those of the files that have not changed since they were found to be usable. */
  async contents(paths: readonly string[], asked: Omit<Reading, 'looks'>): Promise<string[]> {
    const files = await Promise.all(paths.map((path) => this.recall(path, { ...asked, looks: [] })));
    return files.flatMap((file) => file?.sha256 ?? []);
  }

  private async remember(file: InspectedFile, reading: Reading): Promise<void> {
    // A file with a problem is read again: the user may have fixed it within the clock's resolution.
    if (file.sha256 === null || file.problems.some(isBlocking)) return;
    const now = await stat(file.path).catch(() => undefined);
    if (now?.size !== file.size_bytes) return;
    this.remembered.set(key(file.path, reading), { sizeBytes: now.size, changedAt: now.mtimeMs, file });
    const [oldest] = this.remembered.keys();
    if (this.remembered.size > REMEMBERED && oldest !== undefined) this.remembered.delete(oldest);
  }
}

function key(path: string, { repairs, minLength, geneticCode }: Reading): string {
  return `${repairs.toSorted().join('+')} ${minLength} ${geneticCode} ${path}`;
}
