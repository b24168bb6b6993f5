import { join } from 'node:path';
import type { RunSummary } from '../../../contract/rpc/runs.ts';
import type { EngineBase } from '../../engineBase.ts';
import { openLibraryStore, type LibraryStore } from '../../store/libraryStore.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { HistoryEntry } from '../../store/types.ts';
import { readSummary } from './runSummary.ts';

type Program = Pick<EngineBase, 'paths' | 'storeHost'>;

/** The user's settings and list of runs, which all programs of this data folder share. */
export function openLibrary({ paths, storeHost }: Program): Promise<LibraryStore> {
  return openLibraryStore(join(paths.dataDir, 'library.db'), { hostEntry: storeHost });
}

/**
 * Adds a run that is computed without a window to the list that windows show. If the list cannot be written,
 * as on a node without a home folder, the run must not fail.
 */
export async function listRun(program: Program, store: RunStore): Promise<void> {
  let library: LibraryStore | undefined;
  try {
    library = await openLibrary(program);
    const summary = await readSummary(store, program.paths);
    const before = (await library.history()).find(({ runId }) => runId === summary.runId);
    await library.saveRun(libraryEntry(summary, before?.inputs ?? []));
  } catch {
    // The run can still be opened from its folder.
  } finally {
    await library?.close().catch(() => undefined);
  }
}

/**
 * `named`: the paths that the user named in a window when creating the run, which that window may read again.
 */
export function libraryEntry(summary: RunSummary, named: readonly string[]): HistoryEntry {
  const { runId, folder, name, createdAt, finishedAt, state, plan } = summary;
  return {
    runId,
    folder,
    name,
    createdAt: Date.parse(createdAt),
    finishedAt: finishedAt === null ? null : Date.parse(finishedAt),
    phase: state.phase,
    inputs: [...named],
    model: plan.model.title,
    notes: '',
    summary: summary,
  };
}
