import type { AppError } from '../../../../contract/errors.ts';
import type { Message } from '../../../../contract/messages.ts';
import type { WorkerState } from '../../../../contract/rpc/runs.ts';
import type { StoreEffect, WorkEffect, WorkOutcome } from '../workEvents.ts';
import type { DeviceWork, WorkState } from './workState.ts';

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
