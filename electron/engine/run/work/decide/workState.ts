import type { AppError } from '../../../../contract/errors.ts';
import type { Message } from '../../../../contract/messages.ts';
import type { WorkerState } from '../../../../contract/rpc/runs.ts';
import type { StoredPart } from '../../../store/types.ts';
import type { DeviceWorkerEvent } from '../../../workers/backendProcess.ts';
import type { ClusterSharesEvent } from '../../shares/clusterShares.ts';
import type { StoreAnswer, StoreEffect } from '../partLedger.ts';
import type { PrepareStageEvent } from '../prepareStage.ts';
import type { Trial } from './trial.ts';

/**
 * Everything that can happen while a run is computed. Workers, the shares on a cluster, prepare, the store
 * and the user emit these events; the single function that decides what follows is `decideWork`.
 */
export type WorkEvent =
  DeviceWorkerEvent | ClusterSharesEvent | UserEvent | SessionEvent | PrepareStageEvent | StoreAnswer;

/** The user's requests during a run. */
export type UserEvent =
  /** Finish the current parts, then end. */
  | { type: 'drain' }
  | { type: 'exclude_device'; device: string }
  | { type: 'include_device'; device: string }
  /** Failed parts wait again. */
  | { type: 'parts_offered'; parts: readonly StoredPart[] }
  /** A waiting part was skipped. */
  | { type: 'part_withdrawn'; key: string };

type SessionEvent =
  | {
      type: 'started';
      /** All waiting parts. */
      parts: readonly StoredPart[];
      /** Keys of those whose work files are missing. */
      lost: readonly string[];
      /** Whether prepare has read all inputs completely. */
      prepared: boolean;
    }
  | { type: 'stop' }
  /** The worker's process has ended on request. */
  | { type: 'worker_stopped'; device: string };

/** The effects that `decideWork` asks for. */
export type WorkEffect = WorkerEffect | StoreEffect | RecordEffect | WorkOutcome;

type WorkerEffect =
  | { type: 'start_monitor' }
  | { type: 'start_prepare' }
  /** The parts are prepared, so a cluster computes them. */
  | { type: 'start_shares' }
  | { type: 'start_worker'; device: string }
  | { type: 'stop_worker'; device: string }
  | { type: 'assign'; device: string; part: StoredPart }
  | { type: 'recall'; device: string; key: string };

/** For the window, the command line and the run's log. */
type RecordEffect =
  | { type: 'show_worker'; device: string; state: WorkerState }
  | { type: 'record_switched_off'; device: string; error: AppError | null }
  | { type: 'note'; level: 'info' | 'warning' | 'error'; code: string; message: Message; detail?: string };

/** Why the work session ends by itself. At most one per session. */
export type WorkOutcome =
  /** All parts are done, failed or skipped. */
  | { type: 'settled' }
  /** The inputs are read, and nothing else was requested. */
  | { type: 'prepared' }
  /** After `drain`: no part is being computed any more, but some still wait. */
  | { type: 'drained' }
  /** The run can't continue: the disk is full, or no device is left. */
  | { type: 'halt'; error: AppError };

/** A worker has one part to compute and one to read meanwhile. */
export const PARTS_IN_FLIGHT = 2;

export interface DeviceWork {
  readonly id: string;
  readonly name: string;
  readonly isProcessor: boolean;
  worker: WorkerState;
  /** Parts that its worker holds, in the order assigned: it computes the first. */
  readonly held: string[];
  /** Residues done of the part that it computes. */
  residuesDone: number;
  /** Its speed over the last parts; null before the first. */
  residuesPerSecond: number | null;
  /** Whether the user includes it in the run. */
  included: boolean;
  /** Whether its worker has been asked to end. */
  stopping: boolean;
  /** The error for which it was switched off while its worker could still answer. */
  condemned: AppError | null;
  /** How many scores in a row did not match its worker's report. */
  damagedInRow: number;
}

export type ComputedBy = 'devices' | 'shares' | 'nothing';

/** The state of one session of work. It is changed in place: a run can have a hundred thousand parts. */
export interface WorkState {
  readonly queue: PartQueue;
  readonly parts: Map<string, StoredPart>;
  readonly devices: Map<string, DeviceWork>;
  /** The state of prepare. `finished`: all parts have been offered. */
  supply: 'not_started' | 'invalidating' | 'preparing' | 'finished';
  /** Part numbers whose files prepare must rewrite before they can be computed. */
  readonly awaited: Set<string>;
  /** Whether monitor and workers have been started. */
  devicesStarted: boolean;
  /** How many workers have died in this session. */
  deaths: number;
  /** How often the work file of each part was lost in this session. */
  readonly losses: Map<string, number>;
  /** Parts recalled from a worker that had not begun them. */
  readonly recalled: Set<string>;
  /** Number of effects that the store has not answered yet. */
  unanswered: number;
  draining: boolean;
  /** Whether nothing is handed out any more. */
  ended: boolean;
  /** What computes the parts: devices of this computer, the shares of a cluster, or nothing for now. */
  readonly computedBy: ComputedBy;
  sharesStarted: boolean;
}

export function newWorkState(devices: readonly NewDevice[], computedBy: ComputedBy = 'devices'): WorkState {
  return {
    queue: new PartQueue(),
    parts: new Map(),
    devices: new Map(devices.map((device) => [device.id, newDevice(device)])),
    supply: 'not_started',
    awaited: new Set(),
    devicesStarted: false,
    deaths: 0,
    losses: new Map(),
    recalled: new Set(),
    unanswered: 0,
    draining: false,
    ended: false,
    computedBy,
    sharesStarted: false,
  };
}

type NewDevice = Pick<DeviceWork, 'id' | 'name'> & { readonly kind?: string };

export function newDevice({ id, name, kind }: NewDevice): DeviceWork {
  return {
    id,
    name,
    isProcessor: kind === 'cpu',
    worker: { state: 'stopped' },
    held: [],
    residuesDone: 0,
    residuesPerSecond: null,
    included: true,
    stopping: false,
    condemned: null,
    damagedInRow: 0,
  };
}

/** Whether it has a process, or will soon have one again. */
export function hasWorker({ worker, stopping }: DeviceWork): boolean {
  return !stopping && !WITHOUT_WORKER.has(worker.state);
}

const WITHOUT_WORKER: ReadonlySet<WorkerState['state']> = new Set(['stopped', 'switched_off', 'excluded']);

/** Parts that its worker holds but has not begun, last assigned first. */
export function notBegun({ stopping, held }: DeviceWork): string[] {
  return stopping ? [] : held.slice(1).reverse();
}

/** The consequences of one event: the state that it changes, and the effects so far. */
export class Decision {
  readonly state: WorkState;
  readonly effects: WorkEffect[] = [];

  constructor(state: WorkState) {
    this.state = state;
  }

  do(effect: WorkEffect): void {
    this.effects.push(effect);
  }

  /** The store answers each effect with an event. */
  ask(effect: StoreEffect): void {
    this.state.unanswered += 1;
    this.do(effect);
  }

  note(level: 'info' | 'warning' | 'error', code: string, message: Message, detail?: string): void {
    this.do({ type: 'note', level, code, message, ...(detail === undefined ? {} : { detail }) });
  }

  halt(error: AppError): void {
    if (!this.state.ended) this.end({ type: 'halt', error });
  }

  end(outcome: WorkOutcome): void {
    this.state.ended = true;
    this.do(outcome);
  }

  show(device: DeviceWork, worker: WorkerState): void {
    device.worker = worker;
    this.do({ type: 'show_worker', device: device.id, state: worker });
  }

  showWork(device: DeviceWork): void {
    if (device.condemned) return;
    const [part] = device.held;
    this.show(device, part === undefined ? { state: 'idle' } : { state: 'working', part });
  }

  device(id: string): DeviceWork {
    const device = this.state.devices.get(id);
    if (!device) throw new Error(`device ${id} is not part of this run`);
    return device;
  }

  /** The device whose worker holds this part. */
  holder(key: string): DeviceWork | undefined {
    return this.state.devices.get(this.state.queue.holder(key) ?? '');
  }
}

/** A part from the scheduler's point of view. */
interface QueuedPart {
  readonly key: string;
  readonly residues: number;
  readonly round: number;
  readonly trial: Trial;
}

/** Groups of parts in which a round is handed out; a power of two. */
const GROUPS = 16;

/**
 * Parts of a round are numbered along the inputs. They go out in groups that are each spread over all inputs, so that no sample waits for
 * the end of a round, which may be half of the work. A hash chooses the group: multiples of any fixed number would fall into step with
 * the shares of a cluster, which have every n-th part. The first round is waited for as a whole; it is also the only one of a run in the
 * order of its files.
 */
function turnOf({ key, round }: QueuedPart): number {
  if (round === 0) return 0;
  // The steps of MurmurHash3 that mix 32 bits.
  let bits = Number.parseInt(key, 10);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return round + ((bits ^ (bits >>> 16)) & (GROUPS - 1)) / GROUPS;
}

/**
 * Tracks which parts wait, and which device has which. Devices pull, and only the last parts are withheld
 * from slow ones (`handOut`). Parts are handed out by their turn, and within one in the order of their arrival,
 * returned ones first.
 * Parts that have failed wait behind all others, so that one poisonous sequence can neither stop the run nor
 * make a healthy device look broken. Those that have failed again come before those that have failed once: a
 * device that dies of each is switched off only after some of them are dealt with.
 */
export class PartQueue {
  /** Waiting parts by their turn. */
  private readonly waiting = new Map<number, Map<string, QueuedPart>>();
  private readonly returned = new Map<string, QueuedPart>();
  private readonly again = new Map<string, QueuedPart>();
  private readonly alone = new Map<string, QueuedPart>();
  private readonly assigned = new Map<string, { part: QueuedPart; device: string }>();
  /** Waiting parts in the order in which they are handed out. */
  private sources: readonly Map<string, QueuedPart>[] = [this.returned, this.alone, this.again];

  add(part: QueuedPart): void {
    if (this.has(part.key)) throw new Error(`part ${part.key} is already in the queue`);
    const { stage } = part.trial;
    const source = stage === 'in_turn' ? this.ofTurn(turnOf(part)) : this[stage];
    source.set(part.key, part);
  }

  has(key: string): boolean {
    return [...this.sources, this.assigned].some((parts) => parts.has(key));
  }

  /**
   * Hands the next part to a device, or undefined if none waits that it may have now: beside a part that has
   * failed, its device, or every device, computes nothing else. `isAwaited`: parts of the first round are
   * still to come, and this device would compute another for minutes meanwhile.
   */
  take(device: string, isAwaited = false): QueuedPart | undefined {
    const assigned = [...this.assigned.values()];
    const held = assigned.filter((entry) => entry.device === device);
    if (assigned.some(({ part }) => part.trial.stage === 'alone')) return undefined;
    if (held.some(({ part }) => part.trial.stage === 'again')) return undefined;
    for (const source of this.sources) {
      const [part] = source.values();
      if (!part || (isAwaited && part.round > 0)) continue;
      if (source === this.alone && assigned.length > 0) return undefined;
      if (source === this.again && held.length > 0) return undefined;
      source.delete(part.key);
      this.assigned.set(part.key, { part, device });
      return part;
    }
    return undefined;
  }

  /** The part is done, failed or cut in two, and leaves the queue for good. */
  settle(key: string): void {
    if (!this.assigned.delete(key)) throw new Error(`part ${key} is not assigned`);
  }

  /** The part comes back unscored. */
  giveBack(key: string, trial: Trial): void {
    const part = { ...this.entryOf(key).part, trial };
    this.assigned.delete(key);
    if (trial.stage === 'alone') putFirst(this.alone, part);
    else (trial.stage === 'again' ? this.again : this.returned).set(key, part);
  }

  /** Changes what is held against an assigned part. */
  remember(key: string, trial: Trial): void {
    const { part, device } = this.entryOf(key);
    this.assigned.set(key, { part: { ...part, trial }, device });
  }

  /** A waiting part is withdrawn: skipped by the user, or replaced by another reading of the input. */
  withdraw(key: string): void {
    for (const source of this.sources) source.delete(key);
  }

  private ofTurn(turn: number): Map<string, QueuedPart> {
    const known = this.waiting.get(turn);
    if (known) return known;
    const parts = new Map<string, QueuedPart>();
    this.waiting.set(turn, parts);
    const byTurn = [...this.waiting].sort(([a], [b]) => a - b).map(([, ofTurn]) => ofTurn);
    this.sources = [this.returned, ...byTurn, this.alone, this.again];
    return parts;
  }

  private entryOf(key: string): { part: QueuedPart; device: string } {
    const entry = this.assigned.get(key);
    if (!entry) throw new Error(`part ${key} is not assigned`);
    return entry;
  }

  holder(key: string): string | undefined {
    return this.assigned.get(key)?.device;
  }

  trialOf(key: string): Trial {
    return this.entryOf(key).part.trial;
  }

  /** Whether the next part waits until no device computes anything. */
  get nextWaitsForAll(): boolean {
    return this.sources.find(({ size }) => size > 0) === this.alone;
  }

  get waitingCount(): number {
    return this.sources.reduce((sum, { size }) => sum + size, 0);
  }

  *waitingResidues(): Generator<number> {
    for (const source of this.sources) for (const { residues } of source.values()) yield residues;
  }

  get assignedCount(): number {
    return this.assigned.size;
  }
}

/** The part that failed last is tried next: then its failures are in a row. */
function putFirst(parts: Map<string, QueuedPart>, first: QueuedPart): void {
  const others = [...parts.values()];
  parts.clear();
  for (const part of [first, ...others]) parts.set(part.key, part);
}
