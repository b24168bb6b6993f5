import { memoryText } from '../../../contract/deviceFigures.ts';
import { deviceNamed, message, type Message } from '../../../contract/messages.ts';
import type { PartDone } from '../../../contract/protocol/index.ts';
import type { WorkerFigures } from '../../../contract/rpc/runs.ts';
import { TERMINAL_FIGURES } from '../../../contract/terminal/format.ts';

/** Parts after which a worker's memory has settled, and parts in a row that make a trend. */
const SETTLED_PARTS = 10;
/** Growth of memory since the start is remarked on if it exceeds both. */
const NOTABLE_GROWTH = 0.25;
const NOTABLE_GROWTH_BYTES = 500e6;
/** Fragments are remarked on if they are this share of the memory that is held ... */
const NOTABLE_FRAGMENTS = 0.4;
/** ... and they are not counted while a worker holds less than this. */
const LEAST_HELD_BYTES = 2e9;

/** Follows the batches and the memory of one device's worker, part by part. */
export class WorkerWatch {
  private readonly device: { id: string; name: string };
  private readonly tokensPerBatch: number;
  private batches = 0;
  private tokens = 0;
  private parts = 0;
  private first: number[] = [];
  private last: { peak: number; allocated: number | null }[] = [];
  private readonly remarked = new Set<string>();

  /** `tokensPerBatch`: those of the run's plan, by which batches are planned. */
  constructor(device: { id: string; name: string }, tokensPerBatch: number) {
    this.device = device;
    this.tokensPerBatch = tokensPerBatch;
  }

  /** A new worker process starts with little memory. */
  restarted(): void {
    this.parts = 0;
    this.first = [];
    this.last = [];
  }

  take(done: PartDone): void {
    this.parts += 1;
    this.batches += done.esm2_batches;
    this.tokens += done.esm2_tokens;
    if (this.first.length < SETTLED_PARTS) this.first.push(done.peak_memory_bytes);
    this.last.push({ peak: done.peak_memory_bytes, allocated: done.peak_allocated_bytes });
    if (this.last.length > SETTLED_PARTS) this.last.shift();
  }

  figures(): WorkerFigures {
    const percent = (share: number | null): number | null =>
      share === null ? null : Math.round(1000 * share) / 10;
    const { batches, tokens, tokensPerBatch } = this;
    return {
      batchFillPercent: percent(batches === 0 ? null : Math.min(1, tokens / (batches * tokensPerBatch))),
      fragmentedPercent: percent(this.fragmented()),
      memoryGrowthPercent: percent(this.growth()?.share ?? null),
    };
  }

  /** What the user can do something about, each once: a pause starts the worker afresh. */
  remark(): { code: string; words: Message } | null {
    const device = deviceNamed(this.device);
    const growth = this.growth();
    if (growth && growth.share >= NOTABLE_GROWTH && growth.now - growth.before >= NOTABLE_GROWTH_BYTES)
      return this.once('memory_grows', () =>
        message('note.memory_grows', {
          device,
          before: memoryText(growth.before, TERMINAL_FIGURES),
          now: memoryText(growth.now, TERMINAL_FIGURES),
        }),
      );
    const fragmented = this.fragmented();
    if (fragmented !== null && fragmented >= NOTABLE_FRAGMENTS)
      return this.once('memory_fragmented', () =>
        message('note.memory_fragmented', { device, percent: Math.round(100 * fragmented) }),
      );
    return null;
  }

  private once(code: string, words: () => Message): { code: string; words: Message } | null {
    if (this.remarked.has(code)) return null;
    this.remarked.add(code);
    return { code, words: words() };
  }

  /** From the most that the first parts held to the least that the last ones did: a single large part is no growth. */
  private growth(): { before: number; now: number; share: number } | null {
    if (this.parts < 2 * SETTLED_PARTS) return null;
    const before = Math.max(...this.first);
    const now = Math.min(...this.last.map(({ peak }) => peak));
    return before <= 0 ? null : { before, now, share: Math.max(0, now / before - 1) };
  }

  private fragmented(): number | null {
    const shares = this.last.flatMap(({ peak, allocated }) =>
      allocated === null || peak < LEAST_HELD_BYTES ? [] : [1 - allocated / peak],
    );
    return shares.length < SETTLED_PARTS ? null : Math.max(0, Math.min(...shares));
  }
}
