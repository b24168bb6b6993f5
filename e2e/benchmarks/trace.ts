/** One event of Chromium's trace format. Times in microseconds. */
export interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  /** The same in the thread's processor time, which stands still while other programs have the core. */
  readonly tts?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

interface Interval {
  readonly begin: number;
  readonly end: number;
}

export interface MainThreadFigures {
  /** Duration of the longest task in milliseconds. */
  readonly longestTaskMs: number;
  readonly tasksOver50Ms: number;
  /**
   * Time for script, style and layout within a frame, in milliseconds: 95th percentile over the frames that
   * had any.
   */
  readonly frameWorkP95Ms: number;
  readonly frames: number;
}

const SCRIPT_AND_LAYOUT = new Set([
  'FunctionCall',
  'EvaluateScript',
  'EventDispatch',
  'FireAnimationFrame',
  'TimerFire',
  'RunMicrotasks',
  'UpdateLayoutTree',
  'Layout',
]);
const FRAME = 'BeginMainThreadFrame';
const TASKS = new Set(['RunTask', 'ThreadControllerImpl::RunTask']);

/** Finds in a trace what the page's main thread did: it is the renderer thread that begins frames. */
export function mainThreadFigures(events: readonly TraceEvent[]): MainThreadFigures {
  const frames = events.filter((event) => event.name === FRAME);
  const [first] = frames;
  if (!first) throw new Error('The trace holds no frame');
  const { pid, tid } = busiestThread(frames);
  const own = events.filter((event) => event.pid === pid && event.tid === tid);

  const taskMs = own.filter(({ name, ph }) => ph === 'X' && TASKS.has(name)).map(({ dur = 0 }) => dur / 1000);
  const begins = own
    .filter((event) => event.name === FRAME)
    .map((event) => event.ts)
    .sort((a, b) => a - b);
  const work = union(
    own
      .filter(({ name, ph }) => ph === 'X' && SCRIPT_AND_LAYOUT.has(name))
      .map(({ ts, dur = 0 }) => ({ begin: ts, end: ts + dur })),
  );
  const allFrames = begins
    .slice(0, -1)
    .map((begin, index) => workWithin(work, begin, begins[index + 1] ?? begin) / 1000);
  const frameMs = allFrames.filter((duration) => duration > 0);
  return {
    longestTaskMs: Math.max(0, ...taskMs),
    tasksOver50Ms: taskMs.filter((duration) => duration > 50).length,
    frameWorkP95Ms: percentile(frameMs, 0.95),
    frames: frameMs.length,
  };
}

/** The events as if nothing else had run on the computer, for figures of processor time. */
export function inProcessorTime(events: readonly TraceEvent[]): TraceEvent[] {
  return events.flatMap((event) =>
    event.tts === undefined ? [] : [{ ...event, ts: event.tts, dur: event.tdur ?? 0 }],
  );
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function busiestThread(frames: readonly TraceEvent[]): { pid: number; tid: number } {
  const counts = new Map<string, { pid: number; tid: number; count: number }>();
  for (const { pid, tid } of frames) {
    const key = `${pid}:${tid}`;
    counts.set(key, { pid, tid, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const [busiest] = [...counts.values()].toSorted((a, b) => b.count - a.count);
  return busiest ?? { pid: 0, tid: 0 };
}

/** Events can be nested, such as a layout forced by a script, and no moment may count twice. */
function union(intervals: readonly Interval[]): Interval[] {
  const merged: { begin: number; end: number }[] = [];
  for (const interval of intervals.toSorted((a, b) => a.begin - b.begin)) {
    const last = merged.at(-1);
    if (last && interval.begin <= last.end) last.end = Math.max(last.end, interval.end);
    else merged.push({ ...interval });
  }
  return merged;
}

function workWithin(work: readonly Interval[], begin: number, end: number): number {
  let sum = 0;
  for (const interval of work) {
    if (interval.begin >= end) break;
    sum += Math.max(0, Math.min(interval.end, end) - Math.max(interval.begin, begin));
  }
  return sum;
}
