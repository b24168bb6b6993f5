import { appError, type AppError } from '../../../contract/errors.ts';
import { message as sentence } from '../../../contract/messages.ts';
import { poolEventSchema, type PoolCommand, type PoolEvent } from '../../../contract/protocol/index.ts';
import { BackendProcess, type ProcessEvent } from '../backendProcess.ts';
import { BoundedNotes, LONGEST_NOTE } from '../boundedNotes.ts';
import { RegularLook, StartWatch, type DeadlineLimits } from '../deadlines.ts';
import { exitMessage, type ProcessExit } from '../describeExit.ts';
import { FloodLimit } from '../floodLimit.ts';
import type { RecordedLaunch } from '../processRecords.ts';
import { Restarts } from '../restarts.ts';
import { GONE, PoolWorker, type PoolPatience } from './poolWorker.ts';
import type { WorkerLauncher } from './workerConnection.ts';

const STOP_GRACE_MS = 10_000;
/** More devices than this, over a run, no cluster has; each costs memory. */
const MOST_DEVICES = 10_000;
/** Where the cluster has nothing that can be used; somebody may be about to add a node. */
const NOTHING_USABLE_MS = 3_600_000;
/** Each joining and leaving is noted. */
const CHANGES_AT_ONCE = 2 * MOST_DEVICES;
const CHANGES_PER_SECOND = 20;

type DeviceJoined = Extract<PoolEvent, { type: 'device_joined' }>;
export interface PoolDevice extends Omit<DeviceJoined, 'type'> {
  /** Among the devices of its node, counted from 0 as they join. */
  number: number;
}
type PoolSample = Omit<Extract<PoolEvent, { type: 'device_sample' }>, 'type'>;

/** What is heard of a pool, and of the devices that it brings. */
export type WorkerPoolEvent =
  | { type: 'pool_starting' }
  | { type: 'pool_ready'; version: string; job: string | null }
  /** So many devices are still expected. */
  | { type: 'pool_waiting'; waiting: number; reason: string }
  | { type: 'pool_note'; level: 'info' | 'warning' | 'error'; message: string }
  | { type: 'device_joined'; device: string; name: string; joined: PoolDevice }
  /** Its worker is gone with it. */
  | { type: 'device_left'; device: string; reason: string }
  | { type: 'device_measured'; device: string; sample: PoolSample }
  /** All its devices leave now. The attempt of its next start, or null where it isn't started again. */
  | { type: 'pool_died'; error: AppError; restartAttempt: number | null };

export interface WorkerPoolOptions {
  launch: RecordedLaunch;
  logPath: string;
  open: Extract<PoolCommand, { type: 'open_pool' }>;
  deadlines: Pick<DeadlineLimits, 'helloMs' | 'loadMs'>;
  restartDelayMs: number;
  /** For a first device, or another after all have left; undefined waits as long as the scheduler has the run in its queue. */
  maxWaitMs?: number | undefined;
  patience?: Partial<Patience>;
}

interface Patience extends PoolPatience {
  /** For a pool to give back what the scheduler has lent, before it is ended by force. */
  closeMs: number;
}
const PATIENCE: Patience = { nodeLossMs: 3_000, confirmMs: 60_000, closeMs: 30_000 };

type Process = BackendProcess<PoolEvent>;
type Life =
  | { phase: 'starting' | 'opening'; process: Process; watch: StartWatch }
  | { phase: 'open'; process: Process }
  /** There is no process, or not yet another one. */
  | { phase: 'none' };

/**
 * The pool of a run: one process that starts workers on other computers, through the scheduler of a cluster. It is started,
 * watched, and started again where it dies; its devices come and go. Nothing that it says is taken on trust.
 */
export class WorkerPool {
  private readonly options: WorkerPoolOptions;
  private readonly patience: Patience;
  private readonly emit: (event: WorkerPoolEvent) => void;
  private readonly restarts: Restarts;
  private readonly look = new RegularLook((now, heldUpMs) => this.checkDeadline(now, heldUpMs));
  private readonly notes = new BoundedNotes((level, message) =>
    this.emit({ type: 'pool_note', level, message }),
  );
  private readonly changes = new FloodLimit(CHANGES_AT_ONCE, CHANGES_PER_SECOND);
  private life: Life = { phase: 'none' };
  /** That are there, with the worker that each had last, if any. */
  private readonly present = new Map<string, PoolWorker | null>();
  /** That were ever there, by the number that each has on its node. */
  private readonly known = new Map<string, number>();
  private readonly devicesOfNode = new Map<string, number>();
  private lastWaiting = { waiting: -1, reason: '' };
  /** Since when the open pool has had no device; undefined while it has one. */
  private emptySince: number | undefined;
  private verdict: AppError | undefined;
  private stopping = false;

  constructor(options: WorkerPoolOptions, emit: (event: WorkerPoolEvent) => void) {
    this.options = options;
    this.patience = { ...PATIENCE, ...options.patience };
    this.emit = emit;
    this.restarts = new Restarts(() => this.start(), options.restartDelayMs);
  }

  start(): void {
    const { launch, logPath, deadlines } = this.options;
    const process: Process = new BackendProcess(launch, logPath, poolEventSchema, (event) => {
      this.take(event, process);
    });
    this.life = { phase: 'starting', process, watch: new StartWatch(deadlines.helloMs, performance.now()) };
    this.emit({ type: 'pool_starting' });
  }

  /** How a worker is started on one of its devices. */
  launcher(device: string, logPath: string): WorkerLauncher {
    return (emit) => {
      if (!this.present.has(device)) return GONE;
      const worker: PoolWorker = new PoolWorker(
        {
          device,
          logPath,
          send: (command) => this.send(command),
          unconfirmed: () => {
            if (this.present.get(device) === worker)
              this.remove(device, 'Its worker did not end when it was told to.');
          },
          patience: this.patience,
        },
        emit,
      );
      this.present.set(device, worker);
      return worker;
    };
  }

  /** Its workers have been stopped before. Resolves once the scheduler has back what it lent, or the time for that is over. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.look.stop();
    this.restarts.cancel();
    const { life } = this;
    if (life.phase === 'none') return;
    life.process.send({ type: 'close_pool' });
    await endedWithin(life.process, this.patience.closeMs);
    await life.process.stop(STOP_GRACE_MS);
    this.life = { phase: 'none' };
  }

  private send(command: PoolCommand): void {
    if (this.life.phase === 'open' || this.life.phase === 'opening') this.life.process.send(command);
  }

  private take(event: ProcessEvent<PoolEvent>, process: Process): void {
    switch (event.type) {
      case 'message':
        if (!this.verdict) this.takeMessage(event.message, process);
        break;
      case 'fault':
        this.verdict ??= event.error;
        break;
      case 'exit':
        this.onExit(event.exit);
        break;
    }
  }

  private takeMessage(message: PoolEvent, process: Process): void {
    switch (message.type) {
      case 'hello': {
        if (this.life.phase !== 'starting') break;
        const watch = new StartWatch(this.options.deadlines.loadMs, performance.now());
        this.life = { phase: 'opening', process, watch };
        process.send(this.options.open);
        break;
      }
      case 'pool_ready':
        this.life = { phase: 'open', process };
        this.emit({ ...message, version: cut(message.version), job: message.job && cut(message.job) });
        break;
      case 'pool_failed':
        this.verdict = appError('cluster_failed', cut(message.message), { nextStep: cut(message.next_step) });
        // What is missing or not allowed stays so.
        if (message.code !== 'internal_error') this.restarts.giveUp();
        void process.stop(STOP_GRACE_MS);
        break;
      case 'pool_waiting':
        this.waits(message.waiting, cut(message.reason));
        break;
      case 'device_joined':
        this.join(message, process);
        break;
      case 'device_left':
        if (this.knows(message.device, process)) this.remove(message.device, cut(message.reason), process);
        break;
      case 'worker_line':
        if (!this.knows(message.device, process)) break;
        if (message.event.type === 'part_done') this.restarts.progress();
        this.present.get(message.device)?.take(message.event);
        break;
      case 'worker_exit':
        if (this.knows(message.device, process)) this.present.get(message.device)?.exited(message);
        break;
      case 'device_sample':
        if (this.knows(message.device, process) && this.present.has(message.device))
          this.emit({ type: 'device_measured', device: message.device, sample: message });
        break;
      case 'log':
        this.notes.add(message.level, message.message);
        break;
      case 'bye':
        this.verdict = appError('cluster_failed', sentence('pool.over'), {
          nextStep: sentence('pool.over.next'),
        });
        this.restarts.giveUp();
        break;
    }
  }

  private join(joined: DeviceJoined, process: Process): void {
    const { device, node } = joined;
    if (this.present.has(device)) return;
    if (!this.known.has(device) && this.known.size >= MOST_DEVICES) {
      this.fail(`names more than ${MOST_DEVICES} devices`, process);
      return;
    }
    if (this.changesTooOften(process)) return;
    const number = this.known.get(device) ?? this.devicesOfNode.get(node) ?? 0;
    if (!this.known.has(device)) this.devicesOfNode.set(node, number + 1);
    this.known.set(device, number);
    this.present.set(device, null);
    const name = `${joined.kind === 'cpu' ? `Processor ${number + 1}` : `GPU ${number}`} of ${node}`;
    this.emit({ type: 'device_joined', device, name, joined: { ...joined, number } });
  }

  private remove(device: string, reason: string, process?: Process): void {
    const worker = this.present.get(device);
    if (worker === undefined) return;
    if (process && this.changesTooOften(process)) return;
    this.present.delete(device);
    // First, so that its worker's end is known to be no more than that.
    this.emit({ type: 'device_left', device, reason });
    worker?.lost(reason);
  }

  private waits(waiting: number, reason: string): void {
    const before = this.lastWaiting;
    if (before.waiting === waiting && before.reason === reason) return;
    this.lastWaiting = { waiting, reason };
    this.emit({ type: 'pool_waiting', waiting, reason });
    if (reason !== '' && reason !== before.reason) this.notes.add('info', reason);
  }

  /** A device that never joined: what the pool says can't be relied on. */
  private knows(device: string, process: Process): boolean {
    if (this.known.has(device)) return true;
    this.fail(`speaks of a device that has not joined (${device.slice(0, 80)})`, process);
    return false;
  }

  private changesTooOften(process: Process): boolean {
    if (this.changes.take(performance.now()) === 'pass') return false;
    this.fail('has devices join and leave without end', process);
    return true;
  }

  private fail(what: string, process: Process): void {
    if (this.verdict) return;
    this.verdict = appError('cluster_lost', `The program that speaks with the cluster ${what}.`);
    process.writeLog(`killed: it ${what}`);
    process.kill();
  }

  private checkDeadline(now: number, heldUpMs: number): void {
    this.checkEmpty(now, heldUpMs);
    if (!('watch' in this.life)) return;
    const { watch, process } = this.life;
    watch.forgive(heldUpMs);
    if (!watch.missed(now) || this.verdict) return;
    this.verdict = appError('cluster_failed', sentence('pool.silent'));
    process.writeLog('killed: it was not ready in time');
    process.kill();
  }

  /** The run is paused then, which closes the pool: what it still queues for is given back. */
  private checkEmpty(now: number, heldUpMs: number): void {
    if (this.life.phase !== 'open' || this.present.size > 0 || this.verdict) {
      this.emptySince = undefined;
      return;
    }
    this.emptySince = (this.emptySince ?? now) + heldUpMs;
    const { waiting, reason } = this.lastWaiting;
    const limit = this.options.maxWaitMs ?? (waiting > 0 ? Infinity : NOTHING_USABLE_MS);
    if (now - this.emptySince < limit) return;
    this.look.stop();
    const error = appError(
      'cluster_failed',
      sentence('pool.waited', { minutes: Math.round(limit / 60_000), reason }),
      { nextStep: sentence('pool.waited.next') },
    );
    this.emit({ type: 'pool_died', error, restartAttempt: null });
  }

  private onExit(exit: ProcessExit): void {
    const { verdict } = this;
    const error =
      verdict ??
      appError('cluster_lost', sentence('pool.stopped', { how: exitMessage(exit) }), {
        detail: exit.lastLines.join('\n'),
      });
    this.verdict = undefined;
    this.lastWaiting = { waiting: -1, reason: '' };
    if (this.stopping) {
      for (const worker of this.present.values()) worker?.lost(error.cause);
      this.present.clear();
      return;
    }
    this.life = { phase: 'none' };
    const restartAttempt = this.restarts.died();
    if (restartAttempt === null) this.look.stop();
    this.emit({ type: 'pool_died', error, restartAttempt });
    for (const device of [...this.present.keys()])
      this.remove(device, 'The connection to the cluster ended.');
  }
}

/** Resolves when the process has ended, or the time is over. */
async function endedWithin(process: Process, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([process.ended, patience]);
  clearTimeout(timer);
}

const cut = (text: string): string => text.slice(0, LONGEST_NOTE);
