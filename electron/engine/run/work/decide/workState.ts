import type { AppError } from '../../../../contract/errors.ts';
import type { WorkerState } from '../../../../contract/rpc/runs.ts';
import type { StoredPart } from '../../../store/types.ts';
import { PartQueue } from './partQueue.ts';
import type { Message } from '../../../../contract/messages.ts';
import type { StoreEffect, WorkEffect, WorkOutcome } from '../workEvents.ts';

/** A worker has one part to compute and one to read meanwhile. */
export const PARTS_IN_FLIGHT = 2;

export interface DeviceWork {
  readonly id: string;
  readonly name: string;
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

export function newWorkState(
  devices: readonly { id: string; name: string }[],
  computedBy: ComputedBy = 'devices',
): WorkState {
  return {
    queue: new PartQueue(),
    parts: new Map(),
    devices: new Map(devices.map((device) => [device.id, newDevice(device)])),
    supply: 'not_started',
    awaited: new Set(),
    devicesStarted: false,
    losses: new Map(),
    recalled: new Set(),
    unanswered: 0,
    draining: false,
    ended: false,
    computedBy,
    sharesStarted: false,
  };
}

export function newDevice({ id, name }: { id: string; name: string }): DeviceWork {
  return {
    id,
    name,
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

/** The key of the part that prepare wrote, of which this one may be a half. */
export function preparedKey(key: string): string {
  return key.replace(/\..*$/, '');
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
