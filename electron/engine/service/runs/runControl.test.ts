import { describe, expect, it, vi } from 'vitest';
import { appError, AppFailure, type AppError, err, ok, type Result } from '../../../contract/errors.ts';
import { runRequestSchema, type RunSummary } from '../../../contract/rpc/runs.ts';
import type { RunState } from '../../../contract/runState.ts';
import type { RunListener } from '../../run/runRecord.ts';
import { RunControl, type RunControlParts } from './runControl.ts';

const DAMAGED = appError('run_damaged', 'The database cannot be read.');
const LATE = appError('usage', 'A run that is done cannot take "pause".');
const PAUSED: RunState = { phase: 'paused', error: null };
const DONE: RunState = { phase: 'done', failedParts: 1, failedRecords: 0 };
const PARTS = ['a'];

/** A run that starts and stops when the test says so. */
class FakeRun {
  interrupted = false;
  isStarting = false;
  readonly record;
  readonly folder: string;
  readonly calls: string[] = [];
  readonly noted: string[] = [];
  answer: Result<void> = ok(undefined);
  startResult: Result<void> = ok(undefined);
  listener: RunListener = () => undefined;
  private starting: () => void = () => undefined;
  private resting: () => void = () => undefined;

  constructor(runId: string, state: RunState = { phase: 'created' }) {
    this.folder = `/runs/${runId}`;
    this.record = {
      state,
      stored: { description: { runId } },
      notes: { add: (_level: string, code: string) => this.noted.push(code) },
      subscribe: (listener: RunListener) => {
        this.listener = listener;
        return () => undefined;
      },
    };
  }

  async start({ devices, created }: { devices?: string; created?: unknown } = {}): Promise<Result<void>> {
    const how = [devices === undefined ? '' : ` on ${devices}`, created === undefined ? '' : ' as created'];
    this.calls.push(`start${how.join('')}`);
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

  readonly pause = () => this.take('pause');
  readonly drain = () => this.take('drain');
  readonly stopNow = () => this.take('stop');
  readonly cancel = () => this.take('cancel');
  readonly retry = (parts: unknown) => this.take('retry', parts);
  readonly skip = (parts: unknown) => this.take('skip', parts);
  readonly finishNow = () => this.take('finish');
  readonly settleInput = (...asked: unknown[]) => this.take('settle', ...asked);
  readonly setDeviceIncluded = (device: string, included: boolean) => this.take('device', device, included);

  async started(): Promise<void> {
    this.starting();
    await soon();
  }

  async rest(): Promise<void> {
    this.record.state = PAUSED;
    this.resting();
    await soon();
  }

  private take(...call: unknown[]): Promise<Result<void>> {
    this.calls.push(call.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(' '));
    return Promise.resolve(this.answer);
  }
}

async function control(runs: FakeRun[], stored: unknown = []) {
  const open = new Map<string, FakeRun>();
  const rested: RunSummary[] = [];
  /** What was asked of the list, the settings and the folders, and of whom the service told. */
  const said: string[] = [];
  const told: string[] = [];
  const byFolder = (folder: string): FakeRun | undefined => runs.find((run) => run.folder === folder);
  const summary = (runId: string): RunSummary => {
    const run = byFolder(`/runs/${runId}`);
    if (!run) throw new AppFailure(DAMAGED);
    const { folder, record, interrupted } = run;
    return { runId, folder, state: record.state, interrupted } as RunSummary;
  };
  const say = (what: string): Promise<void> => {
    said.push(what);
    return Promise.resolve();
  };
  const refuse = async (what: string): Promise<void> => {
    await say(what);
    throw new AppFailure(DAMAGED);
  };
  const parts = {
    library: {
      setting: (key: string) => Promise.resolve(key === 'queue' ? stored : undefined),
      setSetting: (key: string, ids: string[]) => refuse(`${key}: ${ids.join(' ')}`),
    },
    catalog: {
      all: () => runs.map(({ folder }) => summary(folder.slice(6))),
      has: (runId: string) => byFolder(`/runs/${runId}`) !== undefined,
      in: (folder: string) => (byFolder(folder) ? summary(folder.slice(6)) : undefined),
      folder: (runId: string) => `/runs/${runId}`,
      find: summary,
      add: (folder: string, named: string[]) => say(`add ${folder} of ${named.join(' ')}`),
      forget: (runId: string) => say(`forget ${runId}`),
      refresh: (runId: string) => say(`refresh ${runId}`).then(() => summary(runId)),
      put: ({ runId, state }: RunSummary) => say(`put ${runId} ${state.phase}`),
      note: (run: { description: { runId: string } }) => refuse(`note ${run.description.runId}`),
    },
    open: {
      session: (folder: string) => open.get(folder),
      openSession: (_context: unknown, folder: string) => {
        const run = byFolder(folder);
        if (run) open.set(folder, run);
        return run ? Promise.resolve(run) : Promise.reject(new AppFailure(DAMAGED));
      },
      closeSession: (folder: string) => {
        open.delete(folder);
        return refuse(`close ${folder}`);
      },
      closeReader: (folder: string) => say(`close reader ${folder}`),
    },
    pythonEnvironment: { context: () => Promise.resolve({ appVersion: 'this' }) },
    make: vi.fn<RunControlParts['make']>(),
  };
  // Work goes on although its session could not be closed; what opens a session for one task must close it.
  const { closeSession } = parts.open;
  const tidy = () => {
    parts.open.closeSession = (folder) => closeSession(folder).catch(() => undefined);
  };
  const made = await RunControl.open(parts as unknown as RunControlParts);
  made.rests.add((run) => rested.push(run));
  made.changes.add((runId) => told.push(runId));
  return { control: made, rested, said, told, open, parts, tidy };
}

/** A service whose only run is being computed. */
async function atWork() {
  const run = new FakeRun('1');
  const service = await control([run]);
  service.control.resume('1');
  await soon();
  await run.started();
  run.calls.length = 0;
  service.said.length = 0;
  service.told.length = 0;
  return { ...service, run, runs: service.control };
}

/** Lets everything that is ready continue. */
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const startError = ({ state }: RunSummary): AppError | null =>
  state.phase === 'paused' ? state.error : null;

describe('a new run', () => {
  const request = runRequestSchema.parse({ inputs: ['/data/a.fa'], outputDir: '/runs/1' });
  const replacing = runRequestSchema.parse({ ...request, force: true });
  const created = ({ make }: Pick<RunControlParts, 'make'>, { folder }: FakeRun) =>
    vi.mocked(make).mockResolvedValue(ok({ runId: folder.slice(6), folder } as never));

  it('is made of what was asked, listed with the paths that were named, and started with what was chosen', async () => {
    const run = new FakeRun('1');
    const { control: runs, said, parts } = await control([run]);
    created(parts, run);
    const walk = {};
    const own = { ...request, model: '/models/own', reuseEmbeddings: '/old' };
    expect(await runs.create(own, '/runs', walk)).toBe('1');
    expect(said[0]).toBe('add /runs/1 of /data/a.fa /models/own /old');
    expect(parts.make.mock.calls).toEqual([[own, '/runs', walk]]);
    expect(said).not.toContain('forget 1');
    for (const devices of [undefined, 'cpu:2', undefined]) {
      if (run.calls.length > 0) runs.resume('1', devices);
      await soon();
      await run.started();
      await run.rest();
    }
    expect(run.calls).toEqual(['start as created', 'start on cpu:2', 'start']);
  });

  it('counts as starting from its creation until it computes', async () => {
    const [other, run] = [new FakeRun('0'), new FakeRun('1')];
    const { control: runs, parts } = await control([other, run]);
    created(parts, run);
    runs.resume('0');
    const starting = (id: string, state: RunState = { phase: 'created' }) =>
      runs.isStarting({ runId: id, state });
    parts.catalog.add = () => {
      expect(starting('1')).toBe(true);
      return Promise.resolve();
    };
    await runs.create(request, '/runs');
    expect([starting('0'), starting('1'), runs.isWanted('0'), runs.isWanted('1')]).toEqual([
      ...[true, false, true, true],
    ]);
    expect(starting('0', { phase: 'running' })).toBe(false);
    expect(runs.isWanted('2')).toBe(false);
  });

  it('that cannot be listed is not begun', async () => {
    const run = new FakeRun('1');
    const { control: runs, parts } = await control([run]);
    created(parts, run);
    parts.catalog.add = () => Promise.reject(new AppFailure(DAMAGED));
    await expect(runs.create(request, '/runs')).rejects.toThrow('database');
    expect(runs.isStarting({ runId: '1', state: PAUSED })).toBe(false);
    expect(runs.isWanted('1')).toBe(false);
  });

  it('replaces the run in its folder, if it is told to and could be made', async () => {
    const [old, run] = [new FakeRun('1'), new FakeRun('2')];
    const { control: runs, said, parts } = await control([old, run]);
    parts.make.mockResolvedValueOnce(err(DAMAGED));
    await expect(runs.create(replacing, '/runs')).rejects.toThrow('database');
    expect(said).toEqual(['close reader /runs/1']);
    created(parts, run);
    await runs.create(replacing, '/runs');
    expect(said.filter((what) => !what.startsWith('queue'))).toEqual([
      ...['close reader /runs/1', 'close reader /runs/1', 'forget 1', 'add /runs/2 of /data/a.fa'],
    ]);
    for (const other of [
      request,
      { ...replacing, outputDir: undefined },
      { ...replacing, outputDir: '/x' },
    ]) {
      await runs.create(other, '/runs');
      expect(said.filter((what) => what === 'forget 1')).toHaveLength(1);
    }
  });
});

describe('the queue of the service', () => {
  it.each([
    [
      ['1', 5, 'gone', '2'],
      ['1', '2'],
    ],
    [{ 1: '1' }, []],
    [undefined, []],
  ])('is as it was stored, as far as it is known: %j', async (stored, order) => {
    const { control: runs } = await control([new FakeRun('1'), new FakeRun('2')], stored);
    expect([runs.queue.order, runs.queue.isHeld, runs.queue.active]).toEqual([order, true, null]);
  });

  it('is stored after each change, which all runs are told', async () => {
    const { control: runs, said, told } = await control([new FakeRun('1'), new FakeRun('2')]);
    runs.resume('1');
    expect([said, told]).toEqual([
      ['queue: 1', 'queue: '],
      ['1', '2', '1', '2'],
    ]);
    expect(runs.queue.isHeld).toBe(false);
  });

  it('takes out what is paused or forgotten', async () => {
    const ids = ['1', '2', '3'];
    const { control: runs, said } = await control(
      ids.map((id) => new FakeRun(id)),
      ids,
    );
    runs.pause('1');
    await runs.forget('2');
    expect(runs.queue.order).toEqual(['3']);
    expect(said).toContain('forget 2');
    expect(runs.queue.remove('2')).toBe(false);
    expect(said.at(-1)).toBe('queue: 3');
  });
});

describe('what cannot be done', () => {
  const refusals: [string, (runs: RunControl) => unknown][] = [
    ['is not being computed', (runs) => { runs.pause('2'); }],
    ['is not being computed', (runs) => { runs.drain('2'); }],
    ['only while the run is being computed', (runs) => runs.includeDevice('2', 'cpu', true)],
    ['cannot be read', (runs) => { runs.resume('unknown'); }],
    ['Pause it first', (runs) => runs.withExclusiveFolder('1', () => Promise.resolve())],
    ['already being computed', (runs) => { runs.resume('1'); }],
    ['already being computed', (runs) => { runs.resume('1', 'cpu:1'); }],
  ]; // prettier-ignore
  it.each(refusals)('is refused with a sentence: %s', async (sentence, ask) => {
    const { runs, run } = await atWork();
    await expect(Promise.resolve().then(() => ask(runs))).rejects.toThrow(sentence);
    expect([run.calls, runs.queue.order]).toEqual([[], []]);
  });

  it('a run that starts takes no other devices, and is not begun twice', async () => {
    const { control: runs } = await control([new FakeRun('1')]);
    runs.resume('1');
    for (const step of ['opens', 'starts']) {
      expect(() => { runs.resume('1', 'cpu:1'); }, step).toThrow('already'); // prettier-ignore
      runs.resume('1');
      expect(runs.queue.order).toEqual([]);
      await soon();
    }
  });

  it('a run that finishes or drains cannot be held up', async () => {
    const { runs, run } = await atWork();
    run.record.state = { phase: 'draining' };
    expect(() => { runs.drain('1'); }).toThrow('cannot'); // prettier-ignore
    run.record.state = { phase: 'finishing' };
    expect(() => { runs.pause('1'); }).toThrow('is not being computed'); // prettier-ignore
    runs.queue.add('1', 'last');
    runs.pause('1');
    expect([runs.queue.order, runs.queue.isHeld, run.calls]).toEqual([[], false, []]);
  });
});

describe('a run at work', () => {
  it.each(['pause', 'drain'] as const)('takes %s, and nothing begins after it', async (name) => {
    const { runs, run, rested } = await atWork();
    runs.queue.add('1', 'last');
    runs[name]('1');
    expect([run.calls, runs.queue.isHeld, runs.queue.order]).toEqual([[name], true, []]);
    // It has been told to end, so that it begins again.
    runs.resume('1');
    expect(runs.queue.order).toEqual(['1']);
    await run.rest();
    expect(rested.map(({ state }) => state)).toEqual([PAUSED]);
    expect(run.calls).toEqual([name, 'start']);
  });

  it('takes changes without beginning again, and tells of them', async () => {
    const { runs, run, said, told } = await atWork();
    await runs.retry('1', PARTS);
    await runs.skip('1', PARTS);
    await runs.settleInput('1', 'a.fa', null, []);
    await runs.includeDevice('1', 'cpu', false);
    await runs.finishNow('1');
    expect(run.calls).toEqual([
      ...['retry ["a"]', 'skip ["a"]', 'settle a.fa null []', 'device cpu false', 'finish'],
    ]);
    expect([runs.queue.order, said, told]).toEqual([[], [], ['1', '1', '1', '1', '1']]);
    run.answer = err(LATE);
    await expect(runs.includeDevice('1', 'cpu', false)).rejects.toThrow('cannot take');
  });

  it.each(['finishing', 'pausing'] as const)('begins again for a change while it is %s', async (phase) => {
    const { runs, run } = await atWork();
    run.record.state = { phase };
    await runs.retry('1', 'all');
    expect(runs.queue.order).toEqual(['1']);
    runs.queue.remove('1');
    await runs.finishNow('1');
    expect(runs.queue.order).toEqual(['1']);
    await run.rest();
    expect(run.calls).toEqual(['retry all', 'finish', 'start']);
  });

  it('is cancelled, and not begun again', async () => {
    const { runs, run } = await atWork();
    runs.queue.add('1', 'last');
    await runs.cancel('1');
    expect([run.calls, runs.queue.order]).toEqual([['cancel'], []]);
    await runs.retry('1', 'all');
    expect(runs.queue.order).toEqual(['1']);
  });

  it('is listed as it changes, and what it does is told', async () => {
    const { run, said, told } = await atWork();
    run.listener({ type: 'part' } as never);
    expect([said, told]).toEqual([[], ['1']]);
    run.listener({ type: 'state', state: PAUSED });
    expect([said, told]).toEqual([['note 1'], ['1', '1']]);
    await run.rest();
    expect([said, told]).toEqual([
      ['note 1', 'close /runs/1', 'refresh 1', 'queue: '],
      ['1', '1', '1', '1'],
    ]);
  });

  it('notes a refused request whose caller no longer waited', async () => {
    const { runs, run } = await atWork();
    run.answer = err(LATE);
    runs.pause('1');
    await soon();
    expect(run.noted).toEqual(['usage']);
    run.record.state = { phase: 'running' };
    Object.assign(run, { drain: () => Promise.reject(new AppFailure(DAMAGED)) });
    runs.drain('1');
    await soon();
    expect(run.noted).toEqual(['usage', 'run_damaged']);
  });

  it('keeps the reason if it could not be started, and the next is started', async () => {
    const [refused, next] = [new FakeRun('1'), new FakeRun('3')];
    refused.startResult = err(DAMAGED);
    refused.interrupted = true;
    const { control: runs, rested, said } = await control([refused, next]);
    runs.queue.add('1', 'last');
    runs.queue.add('3', 'last');
    await soon();
    await refused.started();
    expect(rested.map(startError)).toEqual([DAMAGED]);
    // Otherwise the window would report an interruption, and not the reason.
    expect(rested[0]?.interrupted).toBe(false);
    expect(said).toContain('put 1 paused');
    expect(next.calls).toEqual(['start']);
    await next.started();
    await next.rest();
    expect(said).not.toContain('put 3 paused');
  });

  it('that cannot be opened is not listed with the reason if it was taken off the list', async () => {
    const run = new FakeRun('1');
    const { control: runs, rested, said, parts } = await control([run]);
    parts.open.openSession = () => Promise.reject(new AppFailure(DAMAGED));
    runs.resume('1');
    await soon();
    expect(rested.map(startError)).toEqual([DAMAGED]);
    parts.catalog.has = () => false;
    runs.resume('1');
    await soon();
    expect(said.filter((what) => what.startsWith('put'))).toEqual(['put 1 paused']);
    expect(said.filter((what) => what.startsWith('close'))).toEqual([]);
  });
});

describe('a run at rest', () => {
  it.each<[string, RunState, boolean, (runs: RunControl) => Promise<void>]>([
    ['retry all', PAUSED, true, (runs) => runs.retry('1', 'all')],
    ['skip ["a"]', PAUSED, false, (runs) => runs.skip('1', PARTS)],
    ['skip ["a"]', DONE, true, (runs) => runs.skip('1', PARTS)],
    ['settle a.fa null []', PAUSED, false, (runs) => runs.settleInput('1', 'a.fa', null, [])],
    ['settle a.fa null []', DONE, true, (runs) => runs.settleInput('1', 'a.fa', null, [])],
    ['settle a.fa b.fa []', PAUSED, true, (runs) => runs.settleInput('1', 'a.fa', 'b.fa', [])],
    ['finish', PAUSED, true, (runs) => runs.finishNow('1')],
    ['cancel', PAUSED, false, (runs) => runs.cancel('1')],
  ])(
    'takes "%s" in a session for it alone (%o), and is queued first: %s',
    async (call, state, queued, ask) => {
      const [other, run] = [new FakeRun('0'), new FakeRun('1', state)];
      const { control: runs, said, told, tidy } = await control([other, run, new FakeRun('2')]);
      tidy();
      runs.resume('0');
      runs.queue.add('2', 'last');
      await soon();
      said.length = 0;
      told.length = 0;
      await ask(runs);
      expect(run.calls).toEqual([call]);
      expect(said.slice(0, 2)).toEqual(['close /runs/1', 'refresh 1']);
      expect(told[0]).toBe('1');
      expect(runs.queue.order).toEqual(queued ? ['1', '2'] : ['2']);
      run.answer = err(LATE);
      await expect(ask(runs)).rejects.toThrow('cannot take');
      expect(said.filter((what) => what === 'close /runs/1')).toHaveLength(2);
      expect(said.filter((what) => what === 'refresh 1')).toHaveLength(1);
    },
  );
});

describe('the end of the service', () => {
  it('pauses the run at work, and waits for it', async () => {
    const { runs, run, rested } = await atWork();
    const closed = runs.close(60_000, 60_000);
    expect(run.calls).toEqual(['pause']);
    await run.rest();
    await closed;
    expect(rested).toHaveLength(1);
    expect(run.calls).toEqual(['pause']);
  });

  it('ends the workers of a run that does not pause, and does not wait for ever', async () => {
    const { runs, run } = await atWork();
    run.answer = err(LATE);
    await runs.close(5, 60);
    expect([run.calls, run.noted]).toEqual([
      ['pause', 'stop'],
      ['usage', 'usage'],
    ]);
    expect(runs.queue.active).toBe('1');
  });
});
