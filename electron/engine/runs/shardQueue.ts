/** A shard as the scheduler sees it. */
export interface QueuedShard {
  readonly key: string;
  readonly residues: number;
  /** Workers that died, or ran out of memory, on this shard or on the shard it was cut from. */
  readonly casualties: number;
}

/**
 * Which shards wait, and who has which. Devices pull: that is the whole of load balancing. Shards go out in the order they
 * came, returned ones first.
 *
 * Shards that cost a worker wait behind all others, so that one poisonous sequence can neither stop the run nor make a
 * healthy device look broken.
 */
export class ShardQueue {
  private readonly waiting = new Map<string, QueuedShard>();
  private readonly returned = new Map<string, QueuedShard>();
  private readonly suspects = new Map<string, QueuedShard>();
  private readonly assigned = new Map<string, { shard: QueuedShard; device: string }>();

  add(shard: QueuedShard): void {
    if (this.has(shard.key)) throw new Error(`shard ${shard.key} is already in the queue`);
    (shard.casualties > 0 ? this.suspects : this.waiting).set(shard.key, shard);
  }

  has(key: string): boolean {
    return [this.returned, this.waiting, this.suspects, this.assigned].some((shards) => shards.has(key));
  }

  /**
   * Hands the next shard to a device, or nothing when none waits. A suspect is computed alone, so that there is no doubt
   * which shard it was if the worker dies again.
   */
  take(device: string): QueuedShard | undefined {
    const held = this.heldBy(device);
    if (held.some(({ casualties }) => casualties > 0)) return undefined;
    const sources = [this.returned, this.waiting, ...(held.length === 0 ? [this.suspects] : [])];
    for (const source of sources) {
      const [shard] = source.values();
      if (!shard) continue;
      source.delete(shard.key);
      this.assigned.set(shard.key, { shard, device });
      return shard;
    }
    return undefined;
  }

  /** The shard is done, failed or cut in two: it leaves the queue for good. */
  settle(key: string): void {
    if (!this.assigned.delete(key)) throw new Error(`shard ${key} is not assigned`);
  }

  /** The shard comes back unscored. */
  giveBack(key: string, casualties: number): void {
    const entry = this.assigned.get(key);
    if (!entry) throw new Error(`shard ${key} is not assigned`);
    this.assigned.delete(key);
    (casualties > 0 ? this.suspects : this.returned).set(key, { ...entry.shard, casualties });
  }

  /** A shard that waits is withdrawn: skipped by the user, or replaced by another reading of the input. */
  withdraw(key: string): void {
    for (const source of [this.returned, this.waiting, this.suspects]) source.delete(key);
  }

  private heldBy(device: string): QueuedShard[] {
    return [...this.assigned.values()].filter((entry) => entry.device === device).map(({ shard }) => shard);
  }

  holder(key: string): string | undefined {
    return this.assigned.get(key)?.device;
  }

  casualtiesOf(key: string): number {
    const entry = this.assigned.get(key);
    if (!entry) throw new Error(`shard ${key} is not assigned`);
    return entry.shard.casualties;
  }

  get waitingCount(): number {
    return this.returned.size + this.waiting.size + this.suspects.size;
  }

  get assignedCount(): number {
    return this.assigned.size;
  }
}
