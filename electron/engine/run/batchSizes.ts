import type { Plan } from '../../contract/plan.ts';
import type { MemoryProfile, OutOfMemory, WorkerReady } from '../../contract/protocol/index.ts';
import type { ChosenDevice } from '../devices/chosenDevice.ts';
import type { EngineContext } from './engineContext.ts';

const SMALLEST_BATCH = 256;

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
  private readonly limits = new Map<string, number>();
  private scale = 1;

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

  /** Halves the batches: from now on on these devices, or from the next start on if none are given. */
  halve(atWork: readonly string[] = []): void {
    if (atWork.length === 0) this.scale /= 2;
    for (const id of atWork) this.shrink(id, 0.5);
  }

  /** Before a start, loads what earlier runs learnt, and applies smaller batches if they were requested. */
  async recall(devices: readonly ChosenDevice[]): Promise<void> {
    for (const { id } of devices) {
      const remembered = this.known.has(id) ? null : await this.memory?.recall(this.of(id));
      if (remembered) this.known.set(id, { tokens: remembered.tokensPerBatch, profile: remembered.profile });
      if (this.scale !== 1) this.shrink(id, this.scale);
    }
    this.scale = 1;
  }

  limitsOf(device: string): MemoryLimits {
    const known = this.known.get(device);
    const asked = this.limits.get(device) ?? null;
    if (!known) return { most_tokens_per_batch: asked, memory_profile: null };
    if (known.profile !== null) return { most_tokens_per_batch: asked, memory_profile: known.profile };
    return { most_tokens_per_batch: Math.min(known.tokens, asked ?? Infinity), memory_profile: null };
  }

  private shrink(device: string, scale: number): void {
    const { tokensPerBatch } = this.plan;
    const tokens = Math.min(
      this.known.get(device)?.tokens ?? Infinity,
      this.limits.get(device) ?? Infinity,
      tokensPerBatch,
    );
    this.limits.set(device, Math.max(Math.min(SMALLEST_BATCH, tokensPerBatch), Math.floor(tokens * scale)));
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
