import { deviceNamed, message, type Message } from '../../../contract/messages.ts';
import type { PartDone } from '../../../contract/protocol/index.ts';
import { formatBytes } from '../../format/format.ts';

/** Parts after which a worker's memory has settled, and parts in a row that make a trend. */
const SETTLED_PARTS = 10;
/** Growth of memory since the start, relative and absolute, above which a warning is given if both are exceeded. */
const NOTABLE_GROWTH = 0.25;
const NOTABLE_GROWTH_BYTES = 500e6;
/** Share of the held memory that no tensor uses, above which a warning is given; never while less than LEAST_HELD_BYTES is held. */
const NOTABLE_FRAGMENTS = 0.4;
const LEAST_HELD_BYTES = 2e9;

/** What the parts of one worker say of its memory and of its batches. */
export interface WorkerFacts {
  /** Tokens in ESM-2's batches, of those that would have fitted. */
  batchFillPercent: number | null;
  batchesPerPart: number;
  /** Share of the memory held at the peak of the last parts that no tensor used. */
  fragmentedPercent: number | null;
  /** Growth of the peak from the first parts to the last. */
  memoryGrowthPercent: number | null;
}

/** Follows the memory and the batches of one device's worker, part by part. */
export class WorkerFigures {
  private readonly device: { id: string; name: string };
  private readonly tokensPerBatch: number;
  private parts = 0;
  private batches = 0;
  private tokens = 0;
  private first: number[] = [];
  private last: { peak: number; allocated: number | null }[] = [];
  private readonly said = new Set<string>();

  constructor(device: { id: string; name: string }, tokensPerBatch: number) {
    this.device = device;
    this.tokensPerBatch = tokensPerBatch;
  }

  /** A worker that was started again holds what it needs afresh. */
  restarted(): void {
    this.first = [];
    this.last = [];
  }

  /** What the user should know, once each; null where nothing is out of the ordinary. */
  take(done: PartDone): { code: string; message: Message } | null {
    this.parts += 1;
    this.batches += done.esm2_batches;
    this.tokens += done.esm2_tokens;
    if (this.first.length < SETTLED_PARTS) this.first.push(done.peak_memory_bytes);
    this.last.push({ peak: done.peak_memory_bytes, allocated: done.peak_allocated_bytes });
    if (this.last.length > SETTLED_PARTS) this.last.shift();
    return this.growth() ?? this.fragments();
  }

  /** Null before the first part. */
  facts(): WorkerFacts | null {
    const { parts, batches, tokens } = this;
    if (parts === 0) return null;
    const percent = (share: number | null) => (share === null ? null : Math.round(1000 * share) / 10);
    return {
      batchFillPercent: percent(batches === 0 ? null : Math.min(1, tokens / (batches * this.tokensPerBatch))),
      batchesPerPart: Math.round((10 * batches) / parts) / 10,
      fragmentedPercent: percent(this.fragmented()),
      memoryGrowthPercent: percent(this.grown()),
    };
  }

  /** By how much the least of the last parts' peaks is above the most of the first parts'. */
  private grown(): number | null {
    const before = Math.max(...this.first);
    if (this.parts < 2 * SETTLED_PARTS || this.last.length < SETTLED_PARTS || before <= 0) return null;
    return Math.max(0, Math.min(...this.last.map(({ peak }) => peak)) / before - 1);
  }

  private fragmented(): number | null {
    const shares = this.last.flatMap(({ peak, allocated }) =>
      allocated === null || peak < LEAST_HELD_BYTES ? [] : [1 - allocated / peak],
    );
    return shares.length < SETTLED_PARTS ? null : Math.max(0, Math.min(...shares));
  }

  private growth() {
    const before = Math.max(...this.first);
    const now = Math.min(...this.last.map(({ peak }) => peak));
    if ((this.grown() ?? 0) < NOTABLE_GROWTH || now - before < NOTABLE_GROWTH_BYTES) return null;
    return this.once(
      'memory_grows',
      message('note.memory_grows', {
        device: deviceNamed(this.device),
        before: formatBytes(before),
        now: formatBytes(now),
      }),
    );
  }

  private fragments() {
    const share = this.fragmented();
    if (share === null || share < NOTABLE_FRAGMENTS) return null;
    return this.once(
      'memory_fragmented',
      message('note.memory_fragmented', {
        device: deviceNamed(this.device),
        percent: Math.round(100 * share),
      }),
    );
  }

  private once(code: string, words: Message) {
    if (this.said.has(code)) return null;
    this.said.add(code);
    return { code, message: words };
  }
}
