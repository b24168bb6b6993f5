import { describe, expect, it } from 'vitest';
import { sequencesPerMinute } from './deviceFigures.ts';

describe('speed in sequences per minute', () => {
  const progress = (records: number, total: number) => ({
    prepare: { finished: false, records, bases: 500, frames: 3 },
    residues: { total, done: 0 },
  });

  it('includes sequences without an open frame: 100 sequences in 40,000 residues', () => {
    expect(sequencesPerMinute(2000, progress(100, 40_000))).toBe(300);
  });

  it('is unknown until something is prepared, and while nothing computes', () => {
    expect(sequencesPerMinute(2000, progress(3, 0))).toBeNull();
    expect(sequencesPerMinute(null, progress(100, 40_000))).toBeNull();
  });
});
