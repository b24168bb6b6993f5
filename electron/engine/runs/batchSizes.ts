import type { Plan } from '../../contract/plan.ts';
import type { ChosenDevice } from '../devices/index.ts';
import type { EngineContext } from '../engineContext.ts';

const SMALLEST_BATCH = 256;

/** Tokens per batch by device, where its memory holds less than the plan's. Learnt in a run, remembered for the next. */
export class BatchSizes {
  private readonly memory: EngineContext['learntBatches'];
  private readonly plan: Plan;
  private readonly tokens = new Map<string, number>();
  private scale = 1;

  constructor(memory: EngineContext['learntBatches'], plan: Plan) {
    this.memory = memory;
    this.plan = plan;
  }

  get byDevice(): ReadonlyMap<string, number> {
    return this.tokens;
  }

  learn(device: string, tokensPerBatch: number): void {
    this.tokens.set(device, tokensPerBatch);
    this.memory?.remember({ ...this.of(device), tokensPerBatch });
  }

  /** From the next start on, batches are half as large as they were. */
  halve(): void {
    this.scale /= 2;
  }

  /** Begins with what a device's memory held before, and with less where that was asked for. */
  async recall(devices: readonly ChosenDevice[]): Promise<void> {
    const { tokensPerBatch } = this.plan;
    for (const { id } of devices) {
      const learnt = this.tokens.get(id) ?? (await this.memory?.recall(this.of(id))) ?? tokensPerBatch;
      const tokens = Math.min(learnt, tokensPerBatch) * this.scale;
      if (tokens < tokensPerBatch) this.tokens.set(id, Math.max(SMALLEST_BATCH, Math.floor(tokens)));
    }
    this.scale = 1;
  }

  private of(device: string): { deviceUuid: string; modelHash: string; precision: string } {
    return { deviceUuid: device, modelHash: this.plan.model.hash, precision: this.plan.precision };
  }
}
