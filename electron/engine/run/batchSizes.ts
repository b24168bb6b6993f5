import type { Plan } from '../../contract/plan.ts';
import type { MemoryProfile, OutOfMemory, WorkerReady } from '../../contract/protocol/index.ts';
import type { ChosenDevice } from '../devices/chosenDevice.ts';
import type { EngineContext } from './engineContext.ts';

/**
 * Known facts about a device's memory: the tokens of the last batch size that fitted, and the worker's
 * measurements, if it could measure.
 */
interface Known {
  tokens: number;
  profile: MemoryProfile | null;
}

/** Limits on a worker's use of its device's memory, sent when it loads the model. */
interface MemoryLimits {
  most_tokens_per_batch: number | null;
  memory_profile: MemoryProfile | null;
}

/**
 * What fits into the devices' memory, learnt from the workers of this run and of earlier ones.
 * If a worker can measure, its profile is stored and not a number of tokens: the free memory changes from run
 * to run, but the memory per token does not.
 */
export class BatchSizes {
  private readonly memory: EngineContext['learntBatches'];
  private readonly plan: Plan;
  private readonly known = new Map<string, Known>();

  constructor(memory: EngineContext['learntBatches'], plan: Plan) {
    this.memory = memory;
    this.plan = plan;
  }

  loaded(device: string, ready: WorkerReady): void {
    this.known.set(device, { tokens: ready.tokens_per_batch, profile: ready.memory_profile });
    if (ready.memory_profile !== null) this.remember(device);
  }

  ranOut(device: string, event: OutOfMemory): void {
    this.known.set(device, { tokens: event.tokens_per_batch_after, profile: event.memory_profile });
    this.remember(device);
  }

  /** Before a start, loads what earlier runs learnt. */
  async recall(devices: readonly ChosenDevice[]): Promise<void> {
    for (const { id } of devices) {
      const remembered = this.known.has(id) ? null : await this.memory?.recall(this.of(id));
      if (remembered) this.known.set(id, { tokens: remembered.tokensPerBatch, profile: remembered.profile });
    }
  }

  limitsOf(device: string): MemoryLimits {
    const { tokens = null, profile = null } = this.known.get(device) ?? {};
    return { most_tokens_per_batch: profile === null ? tokens : null, memory_profile: profile };
  }

  private remember(device: string): void {
    const known = this.known.get(device);
    if (!known) return;
    this.memory?.remember({ ...this.of(device), tokensPerBatch: known.tokens, profile: known.profile });
  }

  private of(device: string): { deviceUuid: string; modelHash: string; precision: string } {
    return { deviceUuid: device, modelHash: this.plan.model.hash, precision: this.plan.precision };
  }
}
