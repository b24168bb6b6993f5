import fc from 'fast-check';
import { expect, it } from 'vitest';
import { allowRefusal, AppFailure, err, ok, type Result, usage } from '../../../contract/errors.ts';
import { isActive, type RunState } from '../../../contract/runState.ts';
import { NO_DAMAGE } from '../../results/damage.ts';
import { transition, type LifecycleEvent } from '../../run/runRecord.ts';
import { RunControl, type RunControlParts } from './runControl.ts';

/** Resolves when the scheduler of the test lets it. */
type Later = (what: string) => Promise<void>;

/** What may happen to a folder or session, and must not. */
type Fault = (what: string) => void;

/** A run's folder: how far it is, and who has it open. */
interface RunFolder {
  state: RunState;
  waiting: number;
  failed: number;
  isTaken: boolean;
  computed: number;
}

/** An open run as `OpenRun` is to its callers, with parts that take as long as the scheduler wants. */
class MadeUpRun {
  readonly record: object;
  private starting: { givenUp: boolean; over: Promise<unknown> } | undefined;
  private idle: PromiseWithResolvers<null> | undefined;
  private isAtWork = false;
  private work: Promise<void> = Promise.resolve();
  private isClosed = false;
  private readonly on: RunFolder;
  private readonly later: Later;
  private readonly fault: Fault;
  private readonly begins: () => void;

  constructor(runId: string, on: RunFolder, later: Later, fault: Fault, begins: () => void) {
    this.record = {
      notes: { add: () => undefined },
      stored: { description: { runId } },
      subscribe: () => () => undefined,
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

  useSmallerBatches = (): void => undefined;

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
  }

  private take(event: LifecycleEvent): Result<void> {
    const next = transition(this.state, event);
    if (!next.ok) return err(next.error);
    this.on.state = next.state;
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

/** The service's control over made-up runs, of which nothing but the order of events is chosen. */
class Service {
  readonly faults: string[] = [];
  /** Whether a user has paused what was computing, and has started nothing since. */
  isFreed = false;
  readonly folders: Map<string, RunFolder>;
  private readonly sessions = new Map<string, MadeUpRun>();
  private readonly scheduler: fc.Scheduler;

  constructor(scheduler: fc.Scheduler, states: readonly RunState[]) {
    this.scheduler = scheduler;
    this.folders = new Map(
      states.map((state, index) => [
        `run${index}`,
        { state, waiting: state.phase === 'done' ? 0 : 2, failed: 1, isTaken: false, computed: 0 },
      ]),
    );
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

  control(): Promise<RunControl> {
    const summary = (runId: string) => ({ runId, folder: runId, state: this.folder(runId).state });
    return RunControl.open({
      library: { setting: () => Promise.resolve([]), setSetting: () => this.later('stores the queue') },
      catalog: {
        all: () => [],
        has: () => true,
        folder: (runId: string) => runId,
        find: summary,
        refresh: (runId: string) => this.later('reads the folder').then(() => summary(runId)),
        put: () => this.later('stores the summary'),
        note: () => Promise.resolve(),
      },
      open: {
        session: (runId: string) => this.sessions.get(runId),
        openSession: async (_context: unknown, runId: string) => {
          this.takeFolder(runId);
          await this.later('opens');
          const run = new MadeUpRun(
            runId,
            this.folder(runId),
            (what) => this.later(`${runId} ${what}`),
            (what) => this.faults.push(`${runId} ${what}`),
            () => this.isFreed && this.faults.push(`${runId} begins although the GPUs were freed`),
          );
          this.sessions.set(runId, run);
          return run;
        },
        closeSession: async (runId: string) => {
          const session = this.sessions.get(runId);
          if (!session) return;
          this.sessions.delete(runId);
          await session.close();
          this.folder(runId).isTaken = false;
        },
        closeReader: () => this.later('closes a reader'),
      },
      pythonEnvironment: { context: () => this.later('finds Python') },
      inspected: () => Promise.resolve(undefined),
    } as unknown as RunControlParts);
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
  stop: (control: RunControl, runId: string) => {
    control.stop(runId);
  },
  cancel: (control: RunControl, runId: string) => control.cancel(runId),
  retry: (control: RunControl, runId: string) => control.retry(runId, 'all', false),
  skip: (control: RunControl, runId: string) => control.skip(runId, []),
  finishNow: (control: RunControl, runId: string) => control.finishNow(runId),
  rewrite: (control: RunControl, runId: string, service: Service) =>
    control.withExclusiveFolder(runId, async () => {
      service.takeFolder(runId);
      await service.later('rewrites');
      service.folder(runId).isTaken = false;
    }),
} as const;
type RequestName = keyof typeof REQUESTS;
const STARTS: readonly RequestName[] = ['resume', 'retry', 'finishNow'];
const INTERRUPTS: readonly RequestName[] = ['pause', 'drain', 'stop'];

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
    fc.asyncProperty(fc.scheduler(), states, requests, async (scheduler, from, asked) => {
      const service = new Service(scheduler, from);
      const control = await service.control();
      const latest = new Map<string, Latest>();
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
          if (name === 'rewrite' || name === 'skip') return;
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
      await scheduler.waitFor(task.then(() => Promise.all(answers)));
      await scheduler.waitIdle();

      expect(service.faults).toEqual([]);
      expect(service.openFolders).toEqual([]);
      expect(control.queue.active).toBeNull();
      for (const [runId, { name, computedBefore }] of latest) {
        const { state, waiting, computed } = service.folder(runId);
        if (name === 'cancel') expect(state.phase).toBe('cancelled');
        else if (INTERRUPTS.includes(name)) expect(computed - computedBefore).toBeLessThanOrEqual(1);
        else if (control.queue.position(runId) === null) expect([state.phase, waiting]).toEqual(['done', 0]);
      }
    }),
    { numRuns: 1000 },
  );
});
