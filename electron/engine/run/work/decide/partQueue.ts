/** A part from the scheduler's point of view. */
interface QueuedPart {
  readonly key: string;
  readonly residues: number;
  readonly round: number;
  /** How many workers died, or ran out of memory, on this part or on the part it was cut from. */
  readonly failedAttempts: number;
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
 * Parts that killed a worker wait behind all others, so that one poisonous sequence can neither stop the run
 * nor make a healthy device look broken.
 */
export class PartQueue {
  /** Waiting parts by their turn. */
  private readonly waiting = new Map<number, Map<string, QueuedPart>>();
  private readonly returned = new Map<string, QueuedPart>();
  private readonly suspects = new Map<string, QueuedPart>();
  private readonly assigned = new Map<string, { part: QueuedPart; device: string }>();
  /** Waiting parts in the order in which they are handed out. */
  private sources: readonly Map<string, QueuedPart>[] = [this.returned, this.suspects];

  add(part: QueuedPart): void {
    if (this.has(part.key)) throw new Error(`part ${part.key} is already in the queue`);
    if (part.failedAttempts > 0) this.suspects.set(part.key, part);
    else this.ofTurn(turnOf(part)).set(part.key, part);
  }

  has(key: string): boolean {
    return [...this.sources, this.assigned].some((parts) => parts.has(key));
  }

  /**
   * Hands the next part to a device, or undefined if none waits. A suspect is computed alone, so that it is
   * clear which part was to blame if the worker dies again.
   */
  take(device: string): QueuedPart | undefined {
    const held = this.heldBy(device);
    if (held.some(({ failedAttempts }) => failedAttempts > 0)) return undefined;
    for (const source of this.sources) {
      const [part] = source.values();
      if (!part || (source === this.suspects && held.length > 0)) continue;
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
  giveBack(key: string, failedAttempts: number): void {
    const entry = this.assigned.get(key);
    if (!entry) throw new Error(`part ${key} is not assigned`);
    this.assigned.delete(key);
    (failedAttempts > 0 ? this.suspects : this.returned).set(key, { ...entry.part, failedAttempts });
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
    this.sources = [this.returned, ...byTurn, this.suspects];
    return parts;
  }

  private heldBy(device: string): QueuedPart[] {
    return [...this.assigned.values()].filter((entry) => entry.device === device).map(({ part }) => part);
  }

  holder(key: string): string | undefined {
    return this.assigned.get(key)?.device;
  }

  casualtiesOf(key: string): number {
    const entry = this.assigned.get(key);
    if (!entry) throw new Error(`part ${key} is not assigned`);
    return entry.part.failedAttempts;
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
