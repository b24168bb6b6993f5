import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { appError, AppFailure, asAppError } from '../../../contract/errors.ts';
import { runSummarySchema, type RunSummary } from '../../../contract/rpc/runs.ts';
import { RUN_DATABASE } from '../../store/runFolder.ts';
import type { HistoryEntry, JsonObject, LibraryStore } from '../../store/types.ts';
import type { OpenRuns } from './openRuns.ts';
import { readSummary } from './runSummary.ts';

/** Every run that this computer knows of, with what the list shows of it: in the library, refreshed from the folders. */
export class RunCatalog {
  private readonly library: LibraryStore;
  private readonly open: OpenRuns;
  private readonly changed: () => void;
  private readonly runs = new Map<string, RunSummary>();

  constructor(library: LibraryStore, open: OpenRuns, changed: () => void) {
    this.library = library;
    this.open = open;
    this.changed = changed;
  }

  /** Takes in the history, then looks after the folders one by one: they may have moved on, or gone, meanwhile. */
  async load(): Promise<void> {
    for (const entry of await this.library.history()) {
      const summary = runSummarySchema.safeParse(entry.summary);
      if (summary.success) this.runs.set(entry.runId, summary.data);
    }
    for (const runId of this.runs.keys()) await this.refresh(runId);
  }

  /** Newest first. */
  all(): RunSummary[] {
    return [...this.runs.values()].sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  }

  find(runId: string): RunSummary {
    const found = this.runs.get(runId);
    if (found) return found;
    throw new AppFailure(
      appError('folder_not_a_run', 'This run is not in the list any more.', {
        nextStep: 'Open its folder to get it back.',
      }),
    );
  }

  folder(runId: string): string {
    return this.find(runId).folder;
  }

  /** The run that lies in a folder. */
  in(folder: string): RunSummary | undefined {
    return this.all().find((run) => run.folder === folder);
  }

  has(runId: string): boolean {
    return this.runs.has(runId);
  }

  async put(summary: RunSummary): Promise<void> {
    this.runs.set(summary.runId, summary);
    this.changed();
    await this.library.saveRun(entryOf(summary));
  }

  /** Reads again what the run's folder says. */
  async refresh(runId: string): Promise<RunSummary> {
    const known = this.find(runId);
    const fresh = await this.look(known);
    if (JSON.stringify(fresh) !== JSON.stringify(known)) await this.put(fresh);
    return fresh;
  }

  /** Adds the run of a folder, wherever it comes from. A run that was known elsewhere is now known here. */
  async add(folder: string): Promise<RunSummary> {
    const summary = await this.open.read(folder, readSummary);
    const known = this.runs.get(summary.runId);
    if (known && known.folder !== folder) await this.open.closeReader(known.folder);
    await this.put(summary);
    return summary;
  }

  async forget(runId: string): Promise<void> {
    this.runs.delete(runId);
    this.changed();
    await this.library.removeRun(runId);
  }

  private async look(known: RunSummary): Promise<RunSummary> {
    if (!existsSync(join(known.folder, RUN_DATABASE))) return { ...known, missing: true };
    try {
      const summary = await this.open.read(known.folder, readSummary);
      // Another run may lie in the folder now.
      return summary.runId === known.runId ? summary : { ...known, missing: true };
    } catch (reason) {
      const error = asAppError(reason);
      return { ...known, missing: false, state: { phase: 'failed', error } };
    }
  }
}

function entryOf(summary: RunSummary): HistoryEntry {
  const { runId, folder, name, createdAt, finishedAt, state, plan } = summary;
  return {
    runId,
    folder,
    name,
    createdAt: Date.parse(createdAt),
    finishedAt: finishedAt === null ? null : Date.parse(finishedAt),
    phase: state.phase,
    inputs: plan.inputs.map(({ path }) => path),
    model: plan.model.title,
    notes: '',
    summary: JSON.parse(JSON.stringify(summary)) as JsonObject,
  };
}
