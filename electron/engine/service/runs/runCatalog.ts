import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { asAppError, appFailure } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { runSummarySchema, type RunRequest, type RunSummary } from '../../../contract/rpc/runs.ts';
import { RUN_DATABASE } from '../../../contract/folderNames.ts';
import { isModelName } from '../../models/resolveModel.ts';
import type { LibraryStore } from '../../store/storeThread.ts';
import type { HistoryEntry, StoredRun } from '../../store/types.ts';
import type { OpenRuns } from './openRuns.ts';
import { isActive } from '../../../contract/runState.ts';
import { Listeners } from '../changes.ts';
import { libraryEntry, describeRun, hasEnded, readSummary } from './runSummary.ts';

/** A disk that does not respond blocks one of Node.js's few threads. */
const FOLDERS_AT_ONCE = 2;
/** How often the library is checked for runs of the command line, or of another program. */
const OTHERS_INTERVAL_MS = 5_000;

/** The paths that a request wants to read: its inputs, its model if that is a path, and an earlier run. */
export function namedPaths({
  inputs,
  model,
  reuseEmbeddings,
}: Pick<RunRequest, 'inputs' | 'model' | 'reuseEmbeddings'>): string[] {
  return [
    ...inputs,
    ...(isModelName(model) ? [] : [model]),
    ...(reuseEmbeddings === undefined ? [] : [reuseEmbeddings]),
  ];
}

/** All runs known to this computer, with what the list shows: from the library, and from their folders. */
export class RunCatalog {
  private readonly library: LibraryStore;
  private readonly open: OpenRuns;
  /** Called when the list of runs has changed. */
  readonly changes = new Listeners<[]>();
  private readonly runs = new Map<string, RunSummary>();
  /** By run: the paths that the user named when creating it here; empty for one that was opened. */
  private readonly named = new Map<string, readonly string[]>();
  private checking: Promise<void> = Promise.resolve();
  private taking: Promise<void> = Promise.resolve();
  private closed = false;
  private others: NodeJS.Timeout | undefined;

  constructor(library: LibraryStore, open: OpenRuns) {
    this.library = library;
    this.open = open;
  }

  /** Loads the history from the library, without touching any run's folder or database. */
  async load(): Promise<void> {
    for (const entry of await this.library.history()) this.addFromLibrary(entry);
  }

  private addFromLibrary({ runId, inputs, summary }: HistoryEntry): void {
    const { success, data } = runSummarySchema.safeParse(summary);
    if (!success) return;
    // Until its folder was checked: a run that was computing then no longer is, unless another program
    // computes it.
    this.runs.set(runId, isActive(data.state) ? { ...data, interrupted: true } : data);
    this.named.set(runId, inputs);
    this.changes.tell();
  }

  /** Checks in the background which folders still exist, and the state of unfinished runs. */
  checkAll(): void {
    const left = this.all().values();
    const some = async (): Promise<void> => {
      for (const { runId } of left) {
        if (this.closed) return;
        // A run that can't be checked stays unchanged in the list.
        await this.check(runId).catch(() => undefined);
      }
    };
    this.checking = Promise.all(Array.from({ length: FOLDERS_AT_ONCE }, some)).then(() => {
      this.planToTakeOthers();
    });
  }

  /**
   * Adds runs that another program has put on the list since. The library reports a change once, so callers take turns:
   * whoever comes second finds the runs of the first on the list.
   */
  takeOthers(): Promise<void> {
    const take = (): Promise<void> => this.takeOthersInTurn();
    this.taking = this.taking.then(take, take);
    return this.taking;
  }

  private async takeOthersInTurn(): Promise<void> {
    for (const entry of (await this.library.historyChangedElsewhere()) ?? []) {
      if (this.closed) return;
      const known = this.runs.get(entry.runId);
      // Its folder has more information than the other program's list, but may be out of reach.
      if (!known) await this.add(entry.folder).catch(() => this.addFromLibrary(entry));
      else if (!hasEnded(known.state) && !this.open.session(known.folder))
        await this.check(entry.runId).catch(() => undefined);
    }
  }

  private planToTakeOthers(): void {
    if (this.closed) return;
    this.others = setTimeout(() => {
      this.checking = this.takeOthers()
        // This program's list stays valid.
        .catch(() => undefined)
        .then(() => {
          this.planToTakeOthers();
        });
    }, OTHERS_INTERVAL_MS).unref();
  }

  /** Ends the background check. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.others);
    await Promise.allSettled([this.checking, this.taking]);
  }

  /** The paths that the user named when creating the runs of this list. */
  namedPaths(): string[] {
    return [...this.named.values()].flat();
  }

  /** Newest first. */
  all(): RunSummary[] {
    return [...this.runs.values()].sort((a, b) =>
      a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0,
    );
  }

  find(runId: string): RunSummary {
    const found = this.runs.get(runId);
    if (found) return found;
    throw appFailure('folder_not_a_run', message('run.not_listed'));
  }

  folder(runId: string): string {
    return this.find(runId).folder;
  }

  in(folder: string): RunSummary | undefined {
    return [...this.runs.values()].find((run) => run.folder === folder);
  }

  has(runId: string): boolean {
    return this.runs.has(runId);
  }

  async put(summary: RunSummary): Promise<void> {
    this.runs.set(summary.runId, summary);
    this.changes.tell();
    await this.library.saveRun(libraryEntry(summary, this.named.get(summary.runId) ?? []));
  }

  /** Rereads the state from the run's folder. */
  async refresh(runId: string): Promise<RunSummary> {
    const known = this.find(runId);
    const fresh = await this.readFolder(known);
    const now = this.runs.get(runId);
    // It was taken off the list meanwhile, or something newer is known.
    if (now !== known) return now ? this.refresh(runId) : fresh;
    if (!isDeepStrictEqual(fresh, known)) await this.put(fresh);
    return fresh;
  }

  /**
   * Adds the run of a folder, wherever it comes from. If the run was known in another folder, this one
   * replaces it. `named` are the paths that the user named for a run created here.
   */
  async add(folder: string, named?: readonly string[]): Promise<RunSummary> {
    const summary = await this.open.read(folder, (store) => readSummary(store));
    const known = this.runs.get(summary.runId);
    if (known && known.folder !== folder) await this.open.closeReader(known.folder);
    if (named) this.named.set(summary.runId, named);
    await this.put(summary);
    return summary;
  }

  /** Stores the state of an open run, as its folder will have it. */
  async note(run: StoredRun): Promise<void> {
    const known = this.find(run.description.runId);
    await this.put({ ...known, ...describeRun(run, known.folder) });
  }

  async forget(runId: string): Promise<void> {
    this.runs.delete(runId);
    this.named.delete(runId);
    this.changes.tell();
    await this.library.removeRun(runId);
  }

  private async check(runId: string): Promise<void> {
    const known = this.runs.get(runId);
    if (!known) return;
    if (!hasEnded(known.state)) {
      await this.refresh(runId);
      return;
    }
    const missing = !(await isPresent(known.folder));
    const now = this.runs.get(runId);
    if (now && now.folder === known.folder && now.missing !== missing) await this.put({ ...now, missing });
  }

  private async readFolder(known: RunSummary): Promise<RunSummary> {
    if (!(await isPresent(known.folder))) return { ...known, missing: true };
    try {
      const summary = await this.open.read(known.folder, (store) => readSummary(store));
      // Another run may lie in the folder now.
      return summary.runId === known.runId ? summary : { ...known, missing: true };
    } catch (reason) {
      const error = asAppError(reason);
      return { ...known, missing: false, state: { phase: 'failed', error } };
    }
  }
}

async function isPresent(folder: string): Promise<boolean> {
  return access(join(folder, RUN_DATABASE)).then(
    () => true,
    () => false,
  );
}
