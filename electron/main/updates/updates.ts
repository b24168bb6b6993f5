import { AppFailure, appError } from '../../contract/errors.ts';
import { updateStatusSchema, type UpdateStatus } from '../../contract/rpc/shell.ts';
import { LiveTopic, type UpdateActions } from '../../engine/index.ts';

/** What fetches and installs newer versions. */
export interface Updater {
  /** The newest version where it is newer than this one. Rejects where it can't be asked. */
  newest: () => Promise<string | null>;
  download: (onProgress: (fraction: number) => void) => Promise<void>;
  /** Ends the program itself, at once or later. */
  install: () => void;
}

/** Why this copy of the program is never renewed by itself. */
export type NoUpdater = 'no_address' | 'by_hand';

export interface UpdatesOptions {
  updater: Updater | NoUpdater;
  /** Null where it isn't known, as in a checkout. */
  builtAt: Date | null;
  isWanted: () => boolean;
  /** A run is at work. */
  isAtWork: () => boolean;
  /** Ends the program as a user would, then does the given step. */
  quitWith: (lastStep: () => void) => void;
  log: (line: string) => void;
  now?: () => number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const YEAR_MS = 365 * DAY_MS;

/**
 * Newer versions of the program: looked for once a day while no run is at work, fetched and installed only when the user says
 * so. Where the release folder can't be reached, nothing is said.
 */
export class Updates implements UpdateActions {
  private readonly options: UpdatesOptions;
  private readonly now: () => number;
  private readonly topic = new LiveTopic<UpdateStatus>({ take: () => this.status, intervalMs: 200 });
  private update: UpdateStatus['update'] = { state: 'none' };
  private lastLook = Number.NEGATIVE_INFINITY;

  constructor(options: UpdatesOptions) {
    this.options = options;
    this.now = options.now ?? Date.now;
  }

  get status(): UpdateStatus {
    const { updater, builtAt, isWanted } = this.options;
    const outdated = builtAt !== null && this.now() - builtAt.getTime() > YEAR_MS;
    if (typeof updater === 'string') return { outdated, update: { state: 'off', reason: updater } };
    if (!isWanted()) return { outdated, update: { state: 'off', reason: 'setting' } };
    return { outdated, update: this.update };
  }

  watch(signal?: AbortSignal): AsyncGenerator<UpdateStatus, void> {
    return this.topic.watch(signal);
  }

  /** To be called at the start, every now and then, when a run has ended, and when the setting has changed. */
  async look(): Promise<void> {
    this.topic.changed();
    const { updater, isWanted, isAtWork, log } = this.options;
    if (typeof updater === 'string' || !isWanted() || isAtWork()) return;
    if (!this.mayChange() || this.now() - this.lastLook < DAY_MS) return;
    this.lastLook = this.now();
    try {
      const version = await updater.newest();
      const known = 'version' in this.update ? this.update.version : null;
      if (!this.mayChange() || version === known) return;
      this.set(version === null ? { state: 'none' } : { state: 'available', version });
    } catch (reason) {
      log(`No answer about newer versions: ${String(reason)}`);
    }
  }

  download(): void {
    const { update } = this;
    if (update.state !== 'available' && update.state !== 'failed')
      throw refusal('There is no newer version to fetch.');
    void this.fetch(this.idleUpdater(), update.version);
  }

  install(): void {
    if (this.update.state !== 'ready') throw refusal('No newer version has been fetched.');
    const updater = this.idleUpdater();
    this.options.quitWith(() => {
      updater.install();
    });
  }

  /** Nothing is fetched, or on its way. */
  private mayChange(): boolean {
    return this.update.state !== 'downloading' && this.update.state !== 'ready';
  }

  private async fetch(updater: Updater, version: string): Promise<void> {
    this.set({ state: 'downloading', version, fraction: 0 });
    try {
      await updater.download((fraction) => {
        this.set({ state: 'downloading', version, fraction });
      });
      this.set({ state: 'ready', version });
    } catch (reason) {
      this.options.log(`Version ${version} could not be fetched: ${String(reason)}`);
      this.set({ state: 'failed', version });
    }
  }

  private idleUpdater(): Updater {
    const { updater, isAtWork } = this.options;
    if (isAtWork()) throw refusal('A run is at work.', 'Wait until it has ended.');
    if (typeof updater === 'string') throw refusal('This copy of the program is not renewed by itself.');
    return updater;
  }

  /** Rejects what a server calls a version and is none. */
  private set(update: UpdateStatus['update']): void {
    this.update = updateStatusSchema.shape.update.parse(update);
    this.topic.changed();
  }
}

function refusal(cause: string, nextStep = 'Load the window again.'): AppFailure {
  return new AppFailure(appError('usage', cause, { nextStep }));
}
