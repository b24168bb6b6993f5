/**
 * Reports the current step of a set-up or of packing a folder, and its progress, to a window or to a
 * terminal.
 */
import type { AppError } from '../../contract/errors.ts';
import type { Message } from '../../contract/messages.ts';
import type { StepProgress } from '../../contract/rpc/computer.ts';
import {
  formatBytes,
  formatDuration,
  formatDurationRange,
  formatPercent,
} from '../../contract/terminal/format.ts';

/** A rate measured over a shorter time is too unreliable to estimate the time left. */
const RATE_AFTER_MS = 5000;
const SIGN_OF_LIFE_MS = 10_000;
const DETAIL_LENGTH = 90;

/** The progress of a step, as far as it is known. */
export interface Advance {
  readonly done: number;
  readonly total?: number | null;
  readonly line?: string;
}

interface StepStart {
  /** Bytes that the step will process; null if not known. */
  readonly bytes?: number | null;
  /** Bytes that an earlier attempt has processed, which say nothing of the speed. */
  readonly from?: number;
  readonly line?: string;
  /** Number of later steps in the same part of the work. */
  readonly left?: number;
  /** Replaces the current step, which failed. */
  readonly instead?: boolean;
}

export class Steps {
  private readonly onProgress: (progress: StepProgress) => void;
  private readonly begun = Date.now();
  private stepBegun = this.begun;
  private from = 0;
  private title: Message | undefined;
  private left: number;
  private advance: Advance = { done: 0 };
  /** Number of steps in later parts of the work, which the current part does not know. */
  later = 0;
  /** Number of the current step; 0 before the first. */
  number = 0;

  /** `expected`: the number of steps, as far as it is known in advance. */
  constructor(onProgress: (progress: StepProgress) => void, expected = 1) {
    this.onProgress = onProgress;
    this.left = expected;
  }

  begin(title: Message, { bytes = null, from = 0, line = '', left, instead = false }: StepStart = {}): void {
    this.title = title;
    if (!instead) this.number += 1;
    this.left = left ?? Math.max(0, this.left - (instead ? 0 : 1));
    this.stepBegun = Date.now();
    this.from = from;
    this.advance = { done: from, total: bytes, line };
    this.report();
  }

  readonly at = (advance: Partial<Advance>): void => {
    this.advance = { ...this.advance, ...advance };
    this.report();
  };

  /** Reports that this many more bytes are done. */
  readonly more = (bytes: number): void => {
    this.at({ done: this.advance.done + bytes });
  };

  /** Reports the end, unless there was nothing to do. */
  finish(error: AppError | null): void {
    if (this.title !== undefined)
      this.report({ finished: true, error, ...(error === null && { fraction: 1 }) });
  }

  private report(end: Partial<StepProgress> = {}): void {
    if (this.title === undefined) return;
    const { done, total = null, line = '' } = this.advance;
    const elapsed = Date.now() - this.stepBegun;
    const arrived = done - this.from;
    const isRateKnown = total !== null && arrived > 0 && elapsed >= RATE_AFTER_MS;
    this.onProgress({
      step: this.title.text,
      wording: this.title.wording,
      stepNumber: this.number,
      stepCount: this.number + this.left + this.later,
      fraction: total ? Math.min(1, done / total) : null,
      line,
      ...(total || done ? { bytes: { done: Math.round(done), total } } : {}),
      elapsedSeconds: Math.round((Date.now() - this.begun) / 1000),
      remainingSeconds: isRateKnown
        ? Math.round((Math.max(0, total - done) * elapsed) / arrived / 1000)
        : null,
      finished: false,
      error: null,
      ...end,
    });
  }
}

/** Writes a line with the size when a step starts, and its progress every few seconds. */
export function stepLines(write: (line: string) => void): (progress: StepProgress) => void {
  let shown = '';
  let detail = '';
  let started = Date.now();
  let timer: NodeJS.Timeout | undefined;
  const signOfLife = (): void =>
    write(`  ${formatDuration((Date.now() - started) / 1000)} ${detail}`.trimEnd());

  return (progress) => {
    if (progress.finished) {
      clearInterval(timer);
      return;
    }
    timer ??= setInterval(signOfLife, SIGN_OF_LIFE_MS).unref();
    const percent = progress.fraction === null ? '' : `, ${formatPercent(progress.fraction)}`;
    detail = `${shortened(progress.line)}${percent}${remaining(progress.remainingSeconds)}`;
    const place = `[${progress.stepNumber}/${progress.stepCount}]`;
    const step = `${progress.stepNumber} ${progress.step}`;
    if (step === shown) return;
    shown = step;
    started = Date.now();
    timer.refresh();
    const size = progress.bytes?.total ? ` (${formatBytes(progress.bytes.total)})` : '';
    const line = progress.line && !progress.bytes ? `: ${shortened(progress.line)}` : '';
    write(`${place} ${progress.step}${line}${size} ...`);
  };
}

function remaining(seconds: number | null | undefined): string {
  if (typeof seconds !== 'number') return '';
  const least = Math.max(60, seconds);
  return `, about ${formatDurationRange(least, least)} left`;
}

function shortened(line: string): string {
  return line.length > DETAIL_LENGTH ? `${line.slice(0, DETAIL_LENGTH)} ...` : line;
}
