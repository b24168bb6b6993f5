import { describe, expect, it } from 'vitest';
import { appError, AppFailure, type AppError, err, ok, type Result } from '../../../contract/errors.ts';
import type { RunSummary } from '../../../contract/rpc/runs.ts';
import type { RunState } from '../../../contract/runState.ts';
import { RunControl, type RunControlParts } from './runControl.ts';

const DAMAGED = appError('run_damaged', 'The database cannot be read.');
const LATE = appError('usage', 'A run that is done cannot take "pause".');

/** A run that starts and stops when the test says so. */
class FakeRun {
  interrupted = false;
  isStarting = false;
  readonly record;
  readonly folder: string;
  readonly calls: string[] = [];
  readonly noted: string[] = [];
  startResult: Result<void> = ok(undefined);
  pauseResult: Result<void> = ok(undefined);
  private starting: () => void = () => undefined;
  private resting: () => void = () => undefined;

  constructor(runId: string) {
    this.folder = `/runs/${runId}`;
    this.record = {
      state: { phase: 'created' } as RunState,
      stored: { description: { runId } },
      notes: { add: (_level: string, code: string) => this.noted.push(code) },
      subscribe: () => () => undefined,
    };
  }

  async start({ devices }: { devices?: string } = {}): Promise<Result<void>> {
    this.calls.push(devices === undefined ? 'start' : `start on ${devices}`);
    this.isStarting = true;
    await new Promise<void>((resolve) => {
      this.starting = resolve;
    });
    this.isStarting = false;
    if (this.startResult.ok) this.record.state = { phase: 'running' };
    return this.startResult;
  }

  async whenIdle(): Promise<RunState> {
    await new Promise<void>((resolve) => {
      this.resting = resolve;
    });
    return this.record.state;
  }

  pause(): Promise<Result<void>> {
    this.calls.push('pause');
    return Promise.resolve(this.pauseResult);
  }

  started(): void {
    this.starting();
  }

  rest(state: RunState): void {
    this.record.state = state;
    this.resting();
  }
}

async function control(...runs: FakeRun[]) {
  const open = new Map<string, FakeRun>();
  const rested: RunSummary[] = [];
  const byFolder = (folder: string): FakeRun | undefined => runs.find((run) => run.folder === folder);
  const summary = (runId: string): RunSummary => {
    const run = byFolder(`/runs/${runId}`);
    if (!run) throw new AppFailure(DAMAGED);
    const { folder, record, interrupted } = run;
    return { runId, folder, state: record.state, interrupted } as RunSummary;
  };
  const parts = {
    library: { setting: () => Promise.resolve([]), setSetting: () => Promise.resolve() },
    catalog: {
      all: () => [],
      has: () => true,
      folder: (runId: string) => `/runs/${runId}`,
      find: summary,
      refresh: (runId: string) => Promise.resolve(summary(runId)),
      put: () => Promise.resolve(),
      note: () => Promise.resolve(),
    },
    open: {
      session: (folder: string) => open.get(folder),
      openSession: (_context: unknown, folder: string) => {
        const run = byFolder(folder);
        if (run) open.set(folder, run);
        return run ? Promise.resolve(run) : Promise.reject(new AppFailure(DAMAGED));
      },
      closeSession: (folder: string) => Promise.resolve(open.delete(folder)),
    },
    pythonEnvironment: { context: () => Promise.resolve({}) },
    inspected: () => Promise.resolve(undefined),
  };
  const made = await RunControl.open(parts as unknown as RunControlParts);
  made.rests.add((run) => rested.push(run));
  return { control: made, rested };
}

/** Lets everything that is ready continue. */
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const startError = ({ state }: RunSummary): AppError | null =>
  state.phase === 'paused' ? state.error : null;

describe('RunControl', () => {
  it('resumes a run on other devices, only this once', async () => {
    const run = new FakeRun('1');
    const { control: runs } = await control(run);
    for (const devices of ['cpu:2', undefined]) {
      runs.resume('1', devices);
      await soon();
      run.started();
      await soon();
      run.rest({ phase: 'paused', error: null });
      await soon();
    }
    expect(run.calls).toEqual(['start on cpu:2', 'start']);
  });

  it('notes in the run a refused request whose caller no longer waited', async () => {
    const run = new FakeRun('1');
    const { control: runs } = await control(run);
    runs.queue.add('1', 'last');
    await soon();
    run.started();
    await soon();
    run.pauseResult = err(LATE);
    expect(() => {
      runs.resume('1');
    }).toThrow('already being computed');
    runs.pause('1');
    await soon();
    expect(run.noted).toEqual(['usage']);
  });

  it('keeps the reason with a run that could not be started, and continues with the next', async () => {
    const [refused, next] = [new FakeRun('1'), new FakeRun('3')];
    refused.startResult = err(DAMAGED);
    refused.interrupted = true;
    const { control: runs, rested } = await control(refused, next);
    runs.queue.add('1', 'last');
    runs.queue.add('3', 'last');
    await soon();
    refused.started();
    await soon();
    expect(rested.map(startError)).toEqual([DAMAGED]);
    // Otherwise the window would report an interruption, and not the reason.
    expect(rested[0]?.interrupted).toBe(false);
    expect(next.calls).toEqual(['start']);
  });
});
