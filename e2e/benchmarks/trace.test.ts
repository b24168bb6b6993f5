import { describe, expect, it } from 'vitest';
import { inProcessorTime, mainThreadFigures, percentile, type TraceEvent } from './trace.ts';

const event = (name: string, ts: number, dur: number, more: Partial<TraceEvent> = {}): TraceEvent => ({
  name,
  ph: 'X',
  pid: 1,
  tid: 1,
  ts: ts * 1000,
  dur: dur * 1000,
  ...more,
});
const frame = (ts: number, more: Partial<TraceEvent> = {}) => event('BeginMainThreadFrame', ts, 0, more);

describe('figures from a trace', () => {
  it('counts nested script and layout once, each in its own frame', () => {
    const figures = mainThreadFigures([
      frame(0),
      event('RunTask', 1, 9),
      event('FunctionCall', 1, 8),
      event('Layout', 3, 2),
      event('UpdateLayoutTree', 9, 1),
      frame(16),
      event('RunTask', 17, 60),
      event('EventDispatch', 30, 5),
      frame(100),
    ]);
    expect(figures).toEqual({ longestTaskMs: 60, tasksOver50Ms: 1, frameWorkP95Ms: 9, frames: 2 });
  });

  it('counts the thread of the page only', () => {
    const other = { pid: 2, tid: 7 };
    const figures = mainThreadFigures([
      frame(0),
      frame(16),
      frame(32),
      frame(0, other),
      event('RunTask', 1, 500, other),
      event('RunTask', 1, 3),
    ]);
    expect(figures.longestTaskMs).toBe(3);
  });

  it('leaves out of the processor time what other programs used', () => {
    const figures = mainThreadFigures(
      inProcessorTime([
        frame(0, { tts: 0 }),
        event('FunctionCall', 1, 40, { tts: 1000, tdur: 6000 }),
        frame(50, { tts: 9000 }),
        event('Layout', 51, 9, { tts: 9500, tdur: 2000 }),
        frame(66, { tts: 20_000 }),
      ]),
    );
    expect(figures.frameWorkP95Ms).toBe(6);
  });

  it('returns the 95th of a hundred values', () => {
    expect(
      percentile(
        Array.from({ length: 100 }, (_, n) => n),
        0.95,
      ),
    ).toBe(95);
    expect(percentile([], 0.95)).toBe(0);
  });
});
