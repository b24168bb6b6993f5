import type { PartDone } from '../../../contract/protocol/index.ts';

/** Parts after which a worker's memory has settled, and parts in a row that make a trend. */
const SETTLED_PARTS = 10;
/** Less memory than this says nothing about how it is used. */
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
  private readonly tokensPerBatch: number;
  private parts = 0;
  private batches = 0;
  private tokens = 0;
  private first: number[] = [];
  private last: { peak: number; allocated: number | null }[] = [];

  constructor(tokensPerBatch: number) {
    this.tokensPerBatch = tokensPerBatch;
  }

  /** A worker that was started again holds what it needs afresh. */
  restarted(): void {
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
}
