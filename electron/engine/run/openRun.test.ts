import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeAll, expect, it, vi } from 'vitest';
import { appError, AppFailure, unwrap, type Result } from '../../contract/errors.ts';
import { PROTOCOL_VERSION, type WorkerCommand, type WorkerEvent } from '../../contract/protocol/index.ts';
import { runRequestSchema } from '../../contract/rpc/runs.ts';
import { isActive } from '../../contract/runState.ts';
import type { EngineContext } from './engineContext.ts';
import { openRunStore, type RunStore } from '../store/runStore.ts';
import { HOST_ENTRY, preparedRun, scoreOf } from '../store/testing/storeFixture.ts';
import { DESCRIPTION, recordOf, type SyntheticPrepare, writeScores } from '../store/testing/syntheticRun.ts';
import { temporaryFolder, testContext } from '../testing/testContext.ts';
import type { ProcessEvent, WorkerConnection, WorkerLauncher } from '../workers/backendProcess.ts';
import type { StartOptions } from './begin/checkReadiness.ts';
import { OpenRun } from './openRun.ts';

const DEVICES = ['cpu:0', 'cpu:1'];
const FULL = appError('disk_full', 'There is no space left.');
const PARTS = 5;

/** A run that was read and of which nothing is computed; each test works with a copy. */
let original: { folder: string; prepared: SyntheticPrepare };
/** The same, as a crash left it. */
let interrupted: string;
beforeAll(async () => {
  const records = Array.from({ length: PARTS }, (_, row) => recordOf(`read_${row}`, [1]));
  const request = runRequestSchema.parse({ inputs: ['/data/reads_0.fasta'], model: 'teaching' });
  const options = { ...DESCRIPTION.options, request };
  const { store, ...made } = await preparedRun([records], 1, {}, { options });
  await store.close();
  original = made;
  interrupted = copied(made.folder);
  const crashed = await openRunStore(interrupted, { hostEntry: HOST_ENTRY });
  await crashed.setState({ phase: 'running' });
  await crashed.close();
});

function copied(from: string): string {
  const folder = join(temporaryFolder(), 'run');
  cpSync(from, folder, { recursive: true });
  return folder;
}

type Fate = 'done' | 'failed' | 'dies';

/** Workers without processes, which take as long as the scheduler wants, and what they must never do. */
class MadeUpWorkers {
  readonly living = new Map<string, number>();
  readonly faults: string[] = [];
  private turn = Promise.withResolvers<null>();
  private readonly folder: string;
  /** What happens to the next parts; then all are computed. */
  fates: Fate[];
  private readonly later: (what: string) => Promise<void>;

  constructor(folder: string, fates: readonly Fate[], later: (what: string) => Promise<void>) {
    this.folder = folder;
    this.fates = [...fates];
    this.later = async (what) => {
      await later(what);
      this.turn.resolve(null);
      this.turn = Promise.withResolvers();
    };
  }

  get some(): boolean {
    return [...this.living.values()].some((count) => count > 0);
  }

  /** Resolves when a worker next does anything; if none lives once these are answered, nothing will happen. */
  async next(answers: readonly Promise<unknown>[]): Promise<void> {
    const { promise } = this.turn;
    const answered = Promise.all(answers).then(() => (this.some ? sleep(1_000) : undefined));
    await Promise.race([promise, answered]);
  }

  readonly memoryBytes = 0;

  launcher(_: unknown, device: string, __: unknown, modelHash: string): WorkerLauncher {
    return (emit) => this.start(device, modelHash, emit);
  }

  private start(
    device: string,
    modelHash: string,
    emit: (event: ProcessEvent<WorkerEvent>) => void,
  ): WorkerConnection {
    const count = (this.living.get(device) ?? 0) + 1;
    this.living.set(device, count);
    if (count > 1) this.faults.push(`${device} has ${count} workers`);
    let lives = true;
    const ended = Promise.withResolvers<null>();
    const say = (message: object) => lives && emit({ type: 'message', message: message as WorkerEvent });
    const end = (code: number): void => {
      if (!lives) return;
      lives = false;
      this.living.set(device, (this.living.get(device) ?? 0) - 1);
      emit({ type: 'exit', exit: { code, signal: undefined, lastLines: [] } });
      ended.resolve(null);
    };
    const compute = async ({ part, frame_begin, frame_end }: Extract<WorkerCommand, { type: 'part' }>) => {
      await this.later(`${device} computes ${part}`);
      if (!lives) return;
      const fate = this.fates.shift() ?? 'done';
      const frames = original.prepared.frames.get(part.slice(0, 6))?.slice(frame_begin, frame_end) ?? [];
      if (fate === 'dies') end(1);
      else if (fate === 'failed')
        say({ type: 'part_failed', part, code: 'internal_error', message: 'It failed.', detail: '' });
      else say(writeScores(this.folder, { residues: 10 * frames.length }, part, frames, scoreOf));
    };
    void this.later(`${device} starts`).then(() =>
      say({ type: 'hello', protocol: PROTOCOL_VERSION, role: 'worker', pid: 1 }),
    );
    return {
      pid: 1,
      send: (command) => {
        if (command.type === 'load')
          void this.later(`${device} loads`).then(
            () =>
            say({ type: 'ready', device_uuid: null, precision: 'fp32', tokens_per_batch: 512, placement: 'resident', memory_profile: null, memory_free_bytes: null, attention: 'plain', model_hash: modelHash, load_seconds: 0, torch_version: '2', memory_bytes: 1 }), // prettier-ignore
          );
        else if (command.type === 'part') void compute(command);
        else if (command.type === 'recall')
          say({ type: 'part_failed', part: command.part, code: 'recalled', message: '', detail: '' });
      },
      writeLog: () => undefined,
      stop: async () => {
        // Longer than the store needs for a call: whoever doesn't wait is found out.
        await sleep(30);
        await this.later(`${device} stops`);
        end(0);
        await ended.promise;
      },
      kill: () => {
        void this.later(`${device} is killed`).then(() => {
          end(1);
        });
      },
    };
  }
}

/** The engine with made-up workers, on a computer without Python. */
function engine(workers: MadeUpWorkers): EngineContext {
  const context = testContext();
  return {
    ...context,
    environment: { ...context.environment, interpreter: join(context.paths.root, 'no python') },
    restartDelayMs: 0,
    warmWorkers: workers as unknown as NonNullable<EngineContext['warmWorkers']>,
  };
}

const onDevices = (): StartOptions => ({
  created: {
    createdAt: performance.now(),
    choice: {
      devices: DEVICES.map((id) => ({ kind: 'cpu', id, name: id, precisions: ['fp32'] })),
      cluster: null,
      plannedFor: null,
      leftOut: [],
      modelFolder: '/models/teaching',
    },
  },
});

/** Each call of the store waits for its turn, and the ones with these numbers find the disk full. */
function disturb(store: RunStore, later: (what: string) => Promise<void>, full: ReadonlySet<number>): void {
  let calls = 0;
  const methods = store as unknown as Record<string, unknown>;
  for (const name of [
    'setState',
    'startAttempt',
    'endAttempt',
    'completePart',
    'failPart',
    'pendingParts',
    'part',
    'retryFailed',
    'skipParts',
    'counts',
    'checkpoint',
  ]) {
    // prettier-ignore
    const call = methods[name] as (...given: unknown[]) => Promise<unknown>;
    methods[name] = async (...given: unknown[]) => {
      const number = calls++;
      await later(name);
      if (full.has(number)) throw new AppFailure(FULL);
      return call(...given);
    };
  }
}

const REQUESTS: Record<string, (run: OpenRun) => Promise<Result<void>>> = {
  start: (run) => run.start(onDevices()),
  prepare: (run) => run.start({ preparesOnly: true }),
  pause: (run) => run.pause(),
  stopNow: (run) => run.stopNow(),
  drain: (run) => run.drain(),
  cancel: (run) => run.cancel(),
  retry: (run) => run.retry('all'),
  skip: async (run) => run.skip([(await run.record.store.pendingParts())[0]?.key ?? '']),
  finishNow: (run) => run.finishNow(),
  excludeDevice: (run) => run.setDeviceIncluded('cpu:0', false),
  includeDevice: (run) => run.setDeviceIncluded('cpu:0', true),
  leaveFileOut: (run) => run.settleInput('/data/reads_1.fasta', null),
};

/** Requests at once, or after some work was done. */
const storm = fc.record({
  asked: fc.array(
    fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom('start', 'wait') },
      { weight: 3, arbitrary: fc.constantFrom(...Object.keys(REQUESTS)) },
    ),
    { minLength: 1, maxLength: 12 },
  ),
  fates: fc.array(fc.constantFrom<Fate>('done', 'failed', 'dies'), { maxLength: 6 }),
  full: fc.uniqueArray(fc.nat(60), { maxLength: 1 }),
  /** Whether it is closed only when everything is answered. */
  isPatient: fc.boolean(),
  isInterrupted: fc.boolean(),
  beginsFirst: fc.boolean(),
});

it('answers every request, keeps one worker a device, rests with free devices and loses no part, however many ask at once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      storm,
      async (scheduler, { asked, fates, full, isPatient, isInterrupted, beginsFirst }) => {
        const folder = copied(isInterrupted ? interrupted : original.folder);
        const later = async (what: string): Promise<void> => {
          await scheduler.schedule(Promise.resolve(), what);
        };
        const workers = new MadeUpWorkers(folder, fates, later);
        const context = engine(workers);
        const run = unwrap(await OpenRun.open(context, folder));
        disturb(run.record.store, later, new Set(full));
        run.record.subscribe((change) => {
          if (change.type === 'state' && !isActive(change.state) && workers.some)
            workers.faults.push(`is ${change.state.phase} with a worker`);
        });
        const before = run.record.state;
        const answers: Promise<unknown>[] = [];
        const askAll = async (): Promise<void> => {
          for (const name of [...(beginsFirst ? ['start', 'wait', 'wait'] : []), ...asked]) {
            const ask = REQUESTS[name];
            if (ask) await later(name);
            else await workers.next(answers);
            if (ask) answers.push(ask(run).catch((reason: unknown) => reason));
          }
          if (isPatient) await Promise.all(answers);
          await run.close();
          if (workers.some) workers.faults.push('is closed with a worker');
          await Promise.all(answers);
        };
        await scheduler.waitFor(askAll());
        expect(workers.faults).toEqual([]);
        expect(workers.some).toBe(false);
        for (const answer of await Promise.all(answers))
          if (answer instanceof Error) expect(answer).toBeInstanceOf(AppFailure);
        if (isActive(run.record.state)) expect(run.record.state).toBe(before);

        workers.fates = [];
        const again = unwrap(await OpenRun.open(context, folder));
        if (full.length === 0) expect(again.record.state).toEqual(run.record.state);
        unwrap(await again.start(onDevices()));
        await scheduler.waitFor(again.whenIdle());
        if (again.record.state.phase === 'done' && (await again.record.store.counts()).parts.failed > 0) {
          unwrap(await again.retry('all'));
          unwrap(await again.start(onDevices()));
          await scheduler.waitFor(again.whenIdle());
        }
        expect(again.record.state).toMatchObject({ phase: 'done' });
        const { parts } = await again.record.store.counts();
        expect(parts.done + parts.skipped + parts.failed).toBe(PARTS);
        await again.close();
      },
    ),
    { numRuns: 12 },
  );
});

it('is paused with the reason if the list of its parts for shares cannot be written', async () => {
  const run = unwrap(await OpenRun.open(testContext(), copied(original.folder)));
  vi.spyOn(run.record.store, 'shareParts').mockRejectedValue(new AppFailure(FULL));
  unwrap(await run.start({ preparesOnly: true }));
  expect(await run.whenIdle()).toEqual({ phase: 'paused', error: FULL });
  await run.close();
});
