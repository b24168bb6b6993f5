import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { allowRefusal, AppFailure, err, ok, type Result, usage } from '../../../contract/errors.ts';
import { isActive, type RunState } from '../../../contract/runState.ts';
import { RUN_DATABASE } from '../../../contract/folderNames.ts';
import { runRequestSchema } from '../../../contract/rpc/runs.ts';
import { NO_DAMAGE } from '../../results/damage.ts';
import { transition, type LifecycleEvent, type RunListener } from '../../run/runRecord.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { LibraryStore } from '../../store/storeThread.ts';
import { preparedRun } from '../../store/testing/storeFixture.ts';
import { recordOf } from '../../store/testing/syntheticRun.ts';
import type { HistoryEntry, StoredRun } from '../../store/types.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
import type { OpenRuns } from './openRuns.ts';
import { RunCatalog } from './runCatalog.ts';
import { RunControl, type RunControlParts } from './runControl.ts';

/** Resolves when the scheduler of the test lets it. */
type Later = (what: string) => Promise<void>;

/** What may happen to a folder or session, and must not. */
type Fault = (what: string) => void;

/** A run's folder: how far it is, and who has it open. */
interface RunFolder {
  readonly path: string;
  state: RunState;
  waiting: number;
  failed: number;
  isTaken: boolean;
  computed: number;
}

/** An open run as `OpenRun` is to its callers, with parts that take as long as the scheduler wants. */
class MadeUpRun {
  readonly folder: string;
  readonly record: object;
  private starting: { givenUp: boolean; over: Promise<unknown> } | undefined;
  private idle: PromiseWithResolvers<null> | undefined;
  private isAtWork = false;
  private work: Promise<void> = Promise.resolve();
  private isClosed = false;
  private readonly listeners = new Set<RunListener>();
  private readonly on: RunFolder;
  private readonly later: Later;
  private readonly fault: Fault;
  private readonly begins: () => void;

  constructor(runId: string, on: RunFolder, later: Later, fault: Fault, begins: () => void) {
    this.folder = on.path;
    this.record = {
      notes: { add: () => undefined },
      stored: storedRun(runId, on),
      subscribe: (listener: RunListener) => {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
      },
      get state() {
        return on.state;
      },
    };
    this.on = on;
    this.later = later;
    this.fault = fault;
    this.begins = begins;
  }

  private get state(): RunState {
    return this.on.state;
  }

  get isStarting(): boolean {
    return this.starting !== undefined;
  }

  async start(): Promise<Result<void>> {
    if (this.starting || this.idle) this.fault('started twice');
    this.begins();
    const starting = { givenUp: false, over: this.step('starts') };
    this.starting = starting;
    await starting.over;
    this.starting = undefined;
    if (starting.givenUp) return ok(undefined);
    allowRefusal(this.take({ type: 'start' }));
    this.idle = Promise.withResolvers<null>();
    this.isAtWork = true;
    this.work = this.compute();
    return ok(undefined);
  }

  async whenIdle(): Promise<RunState> {
    await this.idle?.promise;
    await this.work;
    return this.state;
  }

  pause = (): Promise<Result<void>> => this.rest();
  stopNow = (): Promise<Result<void>> => this.rest();

  async drain(): Promise<Result<void>> {
    await this.giveUpStarting();
    return isActive(this.state) ? this.take({ type: 'drain' }) : ok(undefined);
  }

  async cancel(): Promise<Result<void>> {
    await this.giveUpStarting();
    await this.step('cancels');
    const cancelled = this.take({ type: 'cancel' });
    this.endWork();
    return cancelled;
  }

  async retry(): Promise<Result<void>> {
    await this.step('retries');
    if (this.on.failed === 0) return err(usage('Nothing has failed.').error);
    this.on.waiting += this.on.failed;
    this.on.failed = 0;
    return ok(undefined);
  }

  async skip(): Promise<Result<void>> {
    await this.step('skips');
    this.on.failed = 0;
    return ok(undefined);
  }

  async finishNow(): Promise<Result<void>> {
    await this.step('leaves parts out');
    this.on.waiting = 0;
    return ok(undefined);
  }

  async close(): Promise<void> {
    await this.work;
    await this.step('closes');
    this.isClosed = true;
    if (this.listeners.size > 0) this.fault('still has a listener');
  }

  private take(event: LifecycleEvent): Result<void> {
    const next = transition(this.state, event);
    if (!next.ok) return err(next.error);
    this.on.state = next.state;
    for (const listener of this.listeners) listener({ type: 'state', state: next.state });
    return ok(undefined);
  }

  private async step(what: string): Promise<void> {
    await this.later(what);
    if (this.isClosed) this.fault(`${what} after it was closed`);
  }

  private async giveUpStarting(): Promise<void> {
    if (this.starting) this.starting.givenUp = true;
    await this.starting?.over;
  }

  private async rest(): Promise<Result<void>> {
    await this.giveUpStarting();
    if (!isActive(this.state)) return ok(undefined);
    const pausing = this.take({ type: 'pause' });
    if (!pausing.ok && this.state.phase !== 'pausing') return pausing;
    // The last part may be done meanwhile, and the run with it.
    await this.later('pauses');
    allowRefusal(this.take({ type: 'workers_idle' }));
    if (!isActive(this.state)) this.endWork();
    return ok(undefined);
  }

  private endWork(): void {
    this.isAtWork = false;
    this.idle?.resolve(null);
  }

  private async compute(): Promise<void> {
    while (this.state.phase === 'running' && this.on.waiting > 0) {
      await this.step('computes');
      if (!this.isAtWork) return;
      this.on.waiting = Math.max(0, this.on.waiting - 1);
      this.on.computed += 1;
    }
    if (this.on.waiting === 0 && this.take({ type: 'parts_settled' }).ok) {
      await this.step('writes its tables');
      if (!this.isAtWork) return;
      allowRefusal(this.take({ type: 'tables_written', failedParts: this.on.failed, failedRecords: 0, failedInputs: 0, damage: NO_DAMAGE })); // prettier-ignore
    } else {
      allowRefusal(this.take({ type: 'workers_idle' }));
    }
    if (!isActive(this.state)) this.endWork();
  }
}

/** The folders of the runs: empty but for a file with a database's name. */
const FOLDERS = ['run0', 'run1', 'run2'].map((name) => {
  const path = join(temporaryFolder(), name);
  mkdirSync(path);
  writeFileSync(join(path, RUN_DATABASE), '');
  return path;
});

function storedRun(runId: string, { state }: RunFolder): StoredRun {
  const request = runRequestSchema.parse({ inputs: ['/data/a.fa'] });
  return { ...newRun, description: { ...newRun.description, runId, options: { request } }, state };
}

let newRun: StoredRun;
beforeAll(async () => {
  const { store } = await preparedRun([[recordOf('read', [1])]]);
  newRun = await store.loadRun();
  await store.close();
});

/** The service's list and control of made-up runs, of which nothing but the order of events is chosen. */
class Service {
  readonly faults: string[] = [];
  /** Whether a user has paused what was computing, and has started nothing since. */
  isFreed = false;
  isClosed = false;
  readonly folders: Map<string, RunFolder>;
  /** The list as it is on the disk. */
  readonly library = new Map<string, HistoryEntry>();
  readonly catalog: RunCatalog;
  private readonly sessions = new Map<string, MadeUpRun>();
  private readonly scheduler: fc.Scheduler;
  private readonly open;

  constructor(scheduler: fc.Scheduler, states: readonly RunState[]) {
    this.scheduler = scheduler;
    this.folders = new Map(
      states.map((state, index) => [
        `run${index}`,
        {
          ...{ state, waiting: state.phase === 'done' ? 0 : 2, failed: 1, isTaken: false, computed: 0 },
          path: FOLDERS[index] as string,
        },
      ]),
    );
    this.open = {
      session: (path: string) => this.sessions.get(path),
      read: async (path: string, ask: (store: RunStore) => Promise<unknown>) => {
        await this.later('opens a reader');
        const loadRun = async () => {
          const run = storedRun(basename(path), this.folder(basename(path)));
          await this.later('reads');
          return run;
        };
        return ask({
          folder: path,
          loadRun,
          timings: () => Promise.resolve({ lastChangeAt: 1, workingMilliseconds: 1 }),
          countPredictions: () => Promise.resolve({ byPrediction: { virus: 3, others: 4 } }),
        } as unknown as RunStore);
      },
      openSession: async (_context: unknown, path: string) => {
        const runId = basename(path);
        this.takeFolder(runId);
        await this.later('opens');
        const run = new MadeUpRun(
          runId,
          this.folder(runId),
          (what) => this.later(`${runId} ${what}`),
          (what) => this.faults.push(`${runId} ${what}`),
          () => {
            if (this.isFreed) this.faults.push(`${runId} begins although the GPUs were freed`);
            if (this.isClosed) this.faults.push(`${runId} begins although the program is closing`);
            if (!this.catalog.has(runId)) this.faults.push(`${runId} begins although it is on no list`);
          },
        );
        this.sessions.set(path, run);
        return run;
      },
      closeSession: async (path: string) => {
        const session = this.sessions.get(path);
        if (!session) return;
        this.sessions.delete(path);
        await session.close();
        this.folder(basename(path)).isTaken = false;
      },
      closeReader: () => this.later('closes a reader'),
    };
    this.catalog = new RunCatalog(this.storedList(), this.open as unknown as OpenRuns);
  }

  get openFolders(): string[] {
    return [...this.folders].filter(([, { isTaken }]) => isTaken).map(([runId]) => runId);
  }

  folder(runId: string): RunFolder {
    const found = this.folders.get(runId);
    if (!found) throw new Error(`There is no ${runId}.`);
    return found;
  }

  async later(what: string): Promise<void> {
    await this.scheduler.schedule(Promise.resolve(), what);
  }

  /** A folder's lock refuses a second opener, in this program too. */
  takeFolder(runId: string): void {
    const folder = this.folder(runId);
    if (folder.isTaken) {
      this.faults.push(`${runId} was opened twice`);
      throw new AppFailure(usage('It is open.').error);
    }
    folder.isTaken = true;
  }

  async control(): Promise<RunControl> {
    for (const path of FOLDERS) await this.catalog.add(path);
    return RunControl.open({
      library: this.storedList(),
      catalog: this.catalog,
      open: this.open as unknown as OpenRuns,
      pythonEnvironment: {
        context: () => this.later('finds Python'),
      } as unknown as RunControlParts['pythonEnvironment'],
      make: () => Promise.resolve(err(usage('None is made.').error)),
    });
  }

  /** What is called takes effect in the order of the calls, and is answered at any time. */
  private storedList(): LibraryStore {
    return {
      setting: () => Promise.resolve([]),
      setSetting: () => this.later('stores the queue'),
      saveRun: (entry: HistoryEntry) => {
        this.library.set(entry.runId, entry);
        return this.later('stores the summary');
      },
      removeRun: (runId: string) => {
        this.library.delete(runId);
        return this.later('removes the summary');
      },
    } as unknown as LibraryStore;
  }
}

const REQUESTS = {
  resume: (control: RunControl, runId: string) => {
    control.resume(runId);
  },
  pause: (control: RunControl, runId: string) => {
    control.pause(runId);
  },
  drain: (control: RunControl, runId: string) => {
    control.drain(runId);
  },
  cancel: (control: RunControl, runId: string) => control.cancel(runId),
  retry: (control: RunControl, runId: string) => control.retry(runId, 'all'),
  skip: (control: RunControl, runId: string) => control.skip(runId, []),
  finishNow: (control: RunControl, runId: string) => control.finishNow(runId),
  rewrite: (control: RunControl, runId: string, service: Service) =>
    control.withExclusiveFolder(runId, async () => {
      service.takeFolder(runId);
      await service.later('rewrites');
      service.folder(runId).isTaken = false;
    }),
  forget: (control: RunControl, runId: string) =>
    control.withExclusiveFolder(runId, () => control.forget(runId)),
  check: (_: RunControl, runId: string, { catalog }: Service) => catalog.refresh(runId),
} as const;
type RequestName = keyof typeof REQUESTS;
const STARTS: readonly RequestName[] = ['resume', 'retry', 'finishNow'];
const INTERRUPTS: readonly RequestName[] = ['pause', 'drain'];

const requests = fc.array(
  fc.record({
    name: fc.constantFrom(...(Object.keys(REQUESTS) as RequestName[])),
    run: fc.nat(2),
  }),
  { minLength: 1, maxLength: 12 },
);
const states = fc.array(
  fc.constantFrom<RunState>(
    { phase: 'created' },
    { phase: 'paused', error: null },
    // It was being computed when the computer went down.
    { phase: 'running' },
    { phase: 'done', failedParts: 1, failedRecords: 0 },
  ),
  { minLength: 3, maxLength: 3 },
);

/** What a run was asked for last and granted, while no other request on it was unanswered. */
interface Latest {
  readonly name: RequestName;
  readonly computedBefore: number;
}

/** The requests on a run that are not answered yet, and the one among them that came and stayed alone. */
interface Asking {
  unanswered: number;
  alone: symbol | undefined;
}

it('does what was asked last of each run, one thing at a time, however many ask at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      states,
      requests,
      fc.boolean(),
      async (scheduler, from, asked, closes) => {
        const service = new Service(scheduler, from);
        const control = await scheduler.waitFor(service.control());
        const latest = new Map<string, Latest>();
        const forgotten: string[] = [];
        const asking = from.map((): Asking => ({ unanswered: 0, alone: undefined }));
        const answers: Promise<void>[] = [];

        const ask = async (name: RequestName, runId: string, all: Asking): Promise<void> => {
          const computedBefore = service.folder(runId).computed;
          const self = Symbol(name);
          const frees =
            INTERRUPTS.includes(name) &&
            control.queue.active === runId &&
            control.queue.position(runId) === null;
          all.alone = all.unanswered === 0 ? self : undefined;
          all.unanswered += 1;
          try {
            await REQUESTS[name](control, runId, service);
            if (frees) service.isFreed = true;
            if (STARTS.includes(name) || name === 'skip') service.isFreed = false;
            if (name === 'check') return;
            if (name === 'forget') forgotten.push(runId);
            if (name === 'forget') latest.delete(runId);
            if (['rewrite', 'skip', 'forget'].includes(name)) return;
            if (all.alone === self) latest.set(runId, { name, computedBefore });
            else latest.delete(runId);
          } catch (reason) {
            expect(reason).toBeInstanceOf(AppFailure);
            // A run that is done stays so, but does not begin again.
            if (name === 'cancel') latest.delete(runId);
          } finally {
            all.unanswered -= 1;
          }
        };
        const { task } = scheduler.scheduleSequence(
          asked.map(({ name, run }) => () => {
            answers.push(ask(name, `run${run}`, asking[run] as Asking));
            return Promise.resolve();
          }),
        );
        const closed = task.then(() => {
          if (!closes) return;
          service.isClosed = true;
          return control.close(60_000, 60_000);
        });
        await scheduler.waitFor(
          closed.then(async () => {
            await Promise.all(answers);
            while (control.queue.active !== null) await setImmediate();
          }),
        );

        expect(service.faults).toEqual([]);
        expect(service.openFolders).toEqual([]);
        expect(control.queue.active).toBeNull();
        for (const { runId, state } of service.catalog.all())
          expect(state).toEqual(service.folder(runId).state);
        expect([...service.library.values()].map(({ summary }) => summary)).toEqual(
          expect.arrayContaining(service.catalog.all()),
        );
        expect(service.library.size).toBe(service.catalog.all().length);
        expect(forgotten.filter((runId) => service.catalog.has(runId))).toEqual([]);
        expect(control.queue.order.filter((runId) => !service.catalog.has(runId))).toEqual([]);
        if (closes) return;
        for (const [runId, { name, computedBefore }] of latest) {
          const { state, waiting, computed } = service.folder(runId);
          if (name === 'cancel') expect(state.phase).toBe('cancelled');
          else if (INTERRUPTS.includes(name)) expect(computed - computedBefore).toBeLessThanOrEqual(1);
          else if (control.queue.position(runId) === null)
            expect([state.phase, waiting]).toEqual(['done', 0]);
        }
      },
    ),
    { numRuns: 1500 },
  );
});
