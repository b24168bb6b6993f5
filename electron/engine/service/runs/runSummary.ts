import { join } from 'node:path';
import type { AppError } from '../../../contract/errors.ts';
import type { RunSummary } from '../../../contract/rpc/runs.ts';
import { isActive, type RunState } from '../../../contract/runState.ts';
import { runLockHolder } from '../../store/runFolder.ts';
import { samplesOf } from '../../exports/samples.ts';
import type { StoredRun, HistoryEntry } from '../../store/types.ts';
import type { RunStore } from '../../store/runStore.ts';
import { goalOf } from '../../run/goal.ts';
import { controlsOf } from '../../../contract/checks.ts';
import { runProgress } from '../../run/progress/runProgress.ts';
import { storedRequest } from '../../run/runRecord.ts';
import type { EngineBase } from '../../run/engineContext.ts';
import { openLibraryStore, type LibraryStore } from '../../store/storeThread.ts';

/** A run's entry in the list, from its database. The list adds whether it waits in the queue. */
export async function readSummary(
  store: Pick<RunStore, 'folder' | 'loadRun' | 'timings' | 'countPredictions'>,
): Promise<RunSummary> {
  const [run, timings] = await Promise.all([store.loadRun(), store.timings()]);
  const counts = run.state.phase === 'done' ? await store.countPredictions({ filter: {} }) : null;
  return {
    ...describeRun(run, store.folder),
    interrupted: isActive(run.state) && runLockHolder(store.folder) === null,
    finishedAt: hasEnded(run.state) ? new Date(timings.lastChangeAt).toISOString() : null,
    viralSequences: counts?.byPrediction.virus ?? null,
    otherSequences: counts?.byPrediction.others ?? null,
    computingSeconds: isActive(run.state) ? null : timings.workingMilliseconds / 1000,
  };
}

/** What is known about an open run without querying its database. */
export function describeRun(run: StoredRun, folder: string): RunSummary {
  const { description, plan, state, counts, prepared } = run;
  const { annotation } = description.options;
  return {
    runId: description.runId,
    folder,
    name: description.name,
    state,
    interrupted: false,
    missing: false,
    createdAt: new Date(description.createdAt).toISOString(),
    finishedAt: null,
    plan,
    request: storedRequest(run, folder),
    goal: goalOf(run, folder),
    queuePosition: null,
    controls: controlsOf(run.devices),
    starting: false,
    computingSeconds: null,
    fraction: runProgress(run, counts, [], 0).fraction,
    sequences: prepared?.records ?? (counts.records > 0 ? counts.records : null),
    viralSequences: null,
    otherSequences: null,
    samples: samplesOf(run),
    tags: annotation?.tags ?? [],
    note: annotation?.note ?? '',
  };
}

/** A run that could not be started waits for the user, with the reason. */
export function withStartError(summary: RunSummary, error: AppError): RunSummary {
  return { ...summary, interrupted: false, state: { phase: 'paused', error } };
}

export function hasEnded(state: RunState): boolean {
  return state.phase === 'done' || state.phase === 'failed' || state.phase === 'cancelled';
}

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
    const summary = await readSummary(store);
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
  const { runId, folder } = summary;
  return { runId, folder, inputs: [...named], summary };
}
