import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  type AppError,
  AppFailure,
  asAppError,
  causeOf,
  type Result,
  unwrap,
  usage,
} from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import type { RunRequest, RunSummary } from '../../../contract/rpc/runs.ts';
import { isActive } from '../../../contract/runState.ts';
import type { Repair } from '../../../contract/protocol/index.ts';
import type { Walk } from '../../inputs/collectInputs.ts';
import type { CreatedRun } from '../../run/begin/createRun.ts';
import { type OpenRun, workOnRun } from '../../run/openRun.ts';
import { type RunListener, type LifecycleEvent, transition } from '../../run/runRecord.ts';
import type { LibraryStore } from '../../store/storeThread.ts';
import { Listeners } from '../changes.ts';
import type { OpenRuns } from './openRuns.ts';
import type { PythonEnvironmentManager } from '../computer/pythonEnvironmentManager.ts';
import { namedPaths, type RunCatalog } from './runCatalog.ts';
import { withStartError } from './runSummary.ts';

const QUEUE_KEY = 'queue';
/** A timer with this option keeps no process alive. */
const UNHELD = { ref: false };

/** The work on the run that the queue has begun, until the run rests again. */
interface Work {
  readonly runId: string;
  /** Undefined while the run's folder is being opened. */
  session: OpenRun | undefined;
  /** Whether the user has asked for its end; a run that is not started yet is not started then. */
  ends: boolean;
}

export interface RunControlParts {
  library: LibraryStore;
  catalog: RunCatalog;
  open: OpenRuns;
  pythonEnvironment: PythonEnvironmentManager;
  /** Makes the folder of a run. */
  make: (request: RunRequest, defaultParent: string, walk: Walk) => Promise<Result<CreatedRun>>;
}

/** All actions of a user on a run, whether it waits, is being computed, or is only a folder. */
export class RunControl {
  private readonly parts: RunControlParts;
  /** Called when a run's dashboard may have changed. */
  readonly changes = new Listeners<[runId: string]>();
  /** Called when a run has stopped, for whatever reason. */
  readonly rests = new Listeners<[run: RunSummary]>();
  readonly queue: RunQueue;
  /** A run's folder can be opened for writing only once. */
  private readonly turns = new KeyedMutex();
  private current: Work | undefined;
  /** The devices of runs that are to resume elsewhere. */
  private readonly elsewhere = new Map<string, string>();
  /** Runs that were created and are being added to the list and the queue. */
  private readonly entering = new Set<string>();
  /** Runs that were created and have not begun yet. */
  private readonly created = new Map<string, CreatedRun>();

  private constructor(parts: RunControlParts, waiting: readonly string[]) {
    this.parts = parts;
    this.queue = new RunQueue(waiting, {
      run: (runId) => this.work(runId),
      changed: (ids) => {
        // If the order could not be stored, it is lost when the program ends, which is no reason to fail.
        void parts.library.setSetting(QUEUE_KEY, [...ids]).catch(() => undefined);
        for (const { runId } of parts.catalog.all()) this.changes.tell(runId);
      },
    });
  }

  static async open(parts: RunControlParts): Promise<RunControl> {
    const stored = (await parts.library.setting(QUEUE_KEY)) ?? [];
    const ids = Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];
    return new RunControl(
      parts,
      ids.filter((id) => parts.catalog.has(id)),
    );
  }

  /** Creates the run's folder and adds the run to the end of the queue. */
  async create(request: RunRequest, defaultParent: string, walk: Walk = {}): Promise<string> {
    const { catalog } = this.parts;
    const make = () => this.parts.make(request, defaultParent, walk);
    const before = request.force && request.outputDir ? catalog.in(resolve(request.outputDir)) : undefined;
    const replace = async (runId: string) => {
      const made = await make();
      if (made.ok) await this.forget(runId);
      return made;
    };
    const created = unwrap(
      await (before ? this.withExclusiveFolder(before.runId, () => replace(before.runId)) : make()),
    );
    this.entering.add(created.runId);
    try {
      await catalog.add(created.folder, namedPaths(request));
      this.created.set(created.runId, created);
      this.queue.add(created.runId, 'last');
    } finally {
      this.entering.delete(created.runId);
    }
    return created.runId;
  }

  /** Whether it was requested, and nothing is computed yet. */
  isStarting({ runId, state }: Pick<RunSummary, 'runId' | 'state'>): boolean {
    return this.entering.has(runId) || (this.queue.active === runId && !isActive(state));
  }

  /** A run with its place in the queue. */
  placed(summary: RunSummary): RunSummary {
    const queuePosition = this.queue.position(summary.runId);
    return { ...summary, queuePosition, starting: this.isStarting(summary) };
  }

  /** Whether it is computing, or waiting to. */
  isWanted(runId: string): boolean {
    return this.queue.active === runId || this.queue.position(runId) !== null;
  }

  resume(runId: string, devices?: string): void {
    this.parts.catalog.find(runId);
    const work = this.workOn(runId);
    if (work && goesOn(work)) {
      if (devices !== undefined || work.session?.isStarting === false) throw usage(message('run.at_work'));
      return;
    }
    if (devices === undefined) this.elsewhere.delete(runId);
    else this.elsewhere.set(runId, devices);
    this.queue.add(runId, 'first');
  }

  pause(runId: string): void {
    this.interrupt(runId, { type: 'pause' }, (session) => session.pause());
  }

  drain(runId: string): void {
    this.interrupt(runId, { type: 'drain' }, (session) => session.drain());
  }

  async cancel(runId: string): Promise<void> {
    this.queue.remove(runId);
    const work = this.workOn(runId);
    if (work) work.ends = true;
    await this.withSession(runId, (session) => session.cancel());
  }

  async retry(runId: string, parts: string[] | 'all'): Promise<void> {
    await this.withSession(runId, (session) => session.retry(parts));
    if (!this.takesChanges(runId)) this.queue.add(runId, 'first');
  }

  async skip(runId: string, parts: string[]): Promise<void> {
    const done = this.parts.catalog.find(runId).state.phase === 'done';
    await this.withSession(runId, (session) => session.skip(parts));
    // The tables contain the reason of each failure, so they are written again.
    if (done) this.queue.add(runId, 'first');
  }

  /** See `OpenRun.settleInput`. */
  async settleInput(runId: string, file: string, path: string | null, repairs: Repair[]): Promise<void> {
    const { phase } = this.parts.catalog.find(runId).state;
    await this.withSession(runId, (session) => session.settleInput(file, path, repairs));
    // Its tables say which files are left out.
    if (path !== null || phase === 'done') this.queue.add(runId, 'first');
  }

  /** Skips what still waits, and lets the run write its results. */
  async finishNow(runId: string): Promise<void> {
    await this.withSession(runId, (session) => session.finishNow());
    if (!this.takesChanges(runId)) this.queue.add(runId, 'first');
  }

  async includeDevice(runId: string, device: string, included: boolean): Promise<void> {
    const session = this.session(runId);
    if (!session) throw usage(message('run.devices_at_rest'));
    unwrap(await session.setDeviceIncluded(device, included));
    this.changes.tell(runId);
  }

  /** Takes it off the list and out of the queue. */
  async forget(runId: string): Promise<void> {
    await this.parts.catalog.forget(runId);
    this.queue.remove(runId);
  }

  /** Runs tasks that need exclusive access to the run's folder. */
  async withExclusiveFolder<Answer>(
    runId: string,
    task: (folder: string) => Promise<Answer>,
  ): Promise<Answer> {
    return this.turns.take(runId, async () => {
      const folder = this.parts.catalog.folder(runId);
      if (this.session(runId)) throw usage(message('run.pause_first'));
      await this.parts.open.closeReader(folder);
      return task(folder);
    });
  }

  /** Stops the running run: gives the current batches some time to finish, then ends the workers. */
  async close(pauseMs: number, stopMs: number): Promise<void> {
    const resting = this.queue.close();
    const work = this.current;
    if (work) work.ends = true;
    const session = work?.session;
    if (session) {
      this.noteIfItFails(session, session.pause());
      await Promise.race([resting, setTimeout(pauseMs, undefined, UNHELD)]);
      if (this.current === work) this.noteIfItFails(session, session.stopNow());
    }
    await Promise.race([resting, setTimeout(stopMs, undefined, UNHELD)]);
  }

  private async work(runId: string): Promise<void> {
    const { catalog, pythonEnvironment, open } = this.parts;
    const work: Work = { runId, session: undefined, ends: false };
    this.current = work;
    const devices = this.elsewhere.get(runId);
    const created = devices === undefined ? this.created.get(runId) : undefined;
    this.elsewhere.delete(runId);
    this.created.delete(runId);
    let startError: AppError | undefined;
    try {
      const context = await pythonEnvironment.context();
      const session = await this.turns.take(runId, () => open.openSession(context, catalog.folder(runId)));
      work.session = session;
      const rested = work.ends
        ? await session.pause()
        : await workOnRun(session, { devices, created, listener: this.listenerOf(session) });
      if (!rested.ok) startError = rested.error;
    } catch (reason) {
      startError = asAppError(reason);
    }
    this.current = undefined;
    const { session } = work;
    if (session) await this.turns.take(runId, () => open.closeSession(session.folder)).catch(() => undefined);
    let summary = await catalog.refresh(runId);
    if (startError && catalog.has(runId)) {
      summary = withStartError(summary, startError);
      await catalog.put(summary);
    }
    this.changes.tell(runId);
    this.rests.tell(summary);
  }

  private listenerOf(session: OpenRun): RunListener {
    const { catalog } = this.parts;
    const { runId } = session.record.stored.description;
    return (change) => {
      // What the list could not store is in the run's folder.
      if (change.type === 'state') void catalog.note(session.record.stored).catch(() => undefined);
      this.changes.tell(runId);
    };
  }

  /** The caller does not wait for these; a failure is noted in the run instead. */
  private noteIfItFails(session: OpenRun, order: Promise<Result<void>>): void {
    const note = (error: AppError): void => {
      session.record.notes.add('warning', error.code, causeOf(error), error.detail);
    };
    order.then(
      (done) => {
        if (!done.ok) note(done.error);
      },
      (reason: unknown) => {
        note(asAppError(reason));
      },
    );
  }

  private session(runId: string): OpenRun | undefined {
    return this.parts.open.session(this.parts.catalog.folder(runId));
  }

  private workOn(runId: string): Work | undefined {
    return this.current?.runId === runId ? this.current : undefined;
  }

  /** Whether the work on it takes up what is changed now; otherwise it must begin again for it. */
  private takesChanges(runId: string): boolean {
    const work = this.workOn(runId);
    return work !== undefined && goesOn(work) && work.session?.record.state.phase !== 'finishing';
  }

  /**
   * Takes a run out of the queue. One that is being computed frees the GPUs for the user, without starting the next
   * run in the queue; what its state forbids is refused.
   */
  private interrupt(
    runId: string,
    event: LifecycleEvent,
    act: (session: OpenRun) => Promise<Result<void>>,
  ): void {
    const work = this.workOn(runId);
    const state = work?.session?.record.state;
    if (!work || state?.phase === 'finishing') {
      if (!this.queue.remove(runId)) throw usage(message('run.not_at_work'));
      return;
    }
    if (state?.phase === 'running' || state?.phase === 'draining') {
      const possible = transition(state, event);
      if (!possible.ok) throw new AppFailure(possible.error);
    }
    // It may wait to begin again.
    this.queue.remove(runId);
    this.queue.hold();
    work.ends = true;
    if (work.session) this.noteIfItFails(work.session, act(work.session));
  }

  /** Changes a run through its open session, or opens one for this single task. */
  async withSession(runId: string, task: (session: OpenRun) => Promise<Result<void>>): Promise<void> {
    const { catalog, open, pythonEnvironment } = this.parts;
    await this.turns.take(runId, async () => {
      const folder = catalog.folder(runId);
      const there = this.session(runId);
      if (there) {
        unwrap(await task(there));
        return;
      }
      const session = await open.openSession(await pythonEnvironment.context(), folder);
      try {
        unwrap(await task(session));
      } finally {
        await open.closeSession(folder);
      }
      await catalog.refresh(runId);
    });
    this.changes.tell(runId);
  }
}

/** Whether it is computing, or on the way to it. */
function goesOn({ session, ends }: Work): boolean {
  if (ends) return false;
  const phase = session?.record.state.phase;
  return !session || session.isStarting || phase === 'running' || phase === 'finishing';
}

/** Runs tasks with the same key one at a time, in the order requested; tasks with other keys don't wait. */
class KeyedMutex {
  private readonly last = new Map<string, Promise<unknown>>();

  async take<Answer>(name: string, task: () => Promise<Answer>): Promise<Answer> {
    const before = this.last.get(name) ?? Promise.resolve();
    const turn = before.then(task, task);
    this.last.set(name, turn);
    try {
      return await turn;
    } finally {
      if (this.last.get(name) === turn) this.last.delete(name);
    }
  }
}

/** Callbacks that the queue needs. */
interface QueueWork {
  /** Starts the run and resolves when it has stopped, for whatever reason. */
  run: (runId: string) => Promise<void>;
  /** The waiting runs, or the running one, have changed. */
  changed: (waiting: readonly string[]) => void;
}

/** Runs that wait for the GPUs, in order; one at a time is computed. */
export class RunQueue {
  private readonly work: QueueWork;
  private waiting: string[];
  private atWork: { runId: string; ended: Promise<void> } | undefined;
  /**
   * After a start of the program, or a pause, nothing begins by itself: the user decides when the GPUs may be
   * used.
   */
  private held = true;
  private closed = false;

  constructor(waiting: readonly string[], work: QueueWork) {
    this.waiting = [...waiting];
    this.work = work;
  }

  get active(): string | null {
    return this.atWork?.runId ?? null;
  }

  get order(): readonly string[] {
    return this.waiting;
  }

  /** Whether nothing begins by itself. */
  get isHeld(): boolean {
    return this.held;
  }

  /** Position among the waiting runs, from 0; null for a run that doesn't wait. */
  position(runId: string): number | null {
    const index = this.waiting.indexOf(runId);
    return index < 0 ? null : index;
  }

  /** The running run may be added: it was paused, is being closed, and then begins again. */
  add(runId: string, place: 'first' | 'last'): void {
    const others = this.waiting.filter((other) => other !== runId);
    this.waiting = place === 'first' ? [runId, ...others] : [...others, runId];
    this.held = false;
    this.tell();
    this.startNext();
  }

  /** Removes a waiting run; false if it didn't wait. */
  remove(runId: string): boolean {
    if (this.position(runId) === null) return false;
    this.waiting = this.waiting.filter((other) => other !== runId);
    this.tell();
    return true;
  }

  /** The user wants the GPUs for something else: nothing begins until a run is added or resumed. */
  hold(): void {
    this.held = true;
  }

  /** Starts nothing any more; resolves when the running run has stopped. */
  async close(): Promise<void> {
    this.closed = true;
    await this.atWork?.ended;
  }

  private startNext(): void {
    if (this.closed || this.held || this.atWork) return;
    const runId = this.waiting.shift();
    if (runId === undefined) return;
    // Even if this run failed, the next one starts.
    const ended = this.work
      .run(runId)
      .catch(() => undefined)
      .finally(() => {
        this.atWork = undefined;
        this.tell();
        this.startNext();
      });
    this.atWork = { runId, ended };
    this.tell();
  }

  private tell(): void {
    this.work.changed(this.waiting);
  }
}
