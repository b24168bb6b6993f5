/** Supervision with a made-up worker. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { DEADLINES } from './deadlines.ts';
import {
  DeviceWorker,
  type DeviceWorkerEvent,
  type DeviceWorkerOptions,
  type LoadCommand,
  localLauncher,
} from './backendProcess.ts';
import { MADE_UP_PART, madeUpWorker } from './testing/madeUpWorker.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

let folder: string;
beforeAll(() => {
  folder = temporaryFolder();
});

const OPTIONS = {
  device: 'cpu:0',
  load: () => ({ type: 'load' }) as LoadCommand,
  modelHash: '0'.repeat(64),
  deadlines: DEADLINES,
  restartDelayMs: 1,
};

/** Works until `isOver`, and assigns a part to each worker that gets ready; returns all events. */
async function supervise(
  behaviour: string,
  isOver: (events: readonly DeviceWorkerEvent[]) => boolean,
  options: Partial<DeviceWorkerOptions> = {},
): Promise<DeviceWorkerEvent[]> {
  const events: DeviceWorkerEvent[] = [];
  await new Promise<void>((resolve) => {
    const worker = new DeviceWorker(
      {
        ...OPTIONS,
        launch: localLauncher(madeUpWorker(behaviour), join(folder, `${behaviour}.log`)),
        ...options,
      },
      (event) => {
        events.push(event);
        if (event.type === 'worker_ready') worker.assign(MADE_UP_PART);
        if (isOver(events)) void worker.stop(10_000).then(resolve);
      },
    );
    worker.start();
  });
  return events;
}

const hasDied = (events: readonly DeviceWorkerEvent[]): boolean => events.at(-1)?.type === 'worker_died';
const types = (events: readonly DeviceWorkerEvent[]): string[] => events.map(({ type }) => type);
const isSwitchedOff = (events: readonly DeviceWorkerEvent[]): boolean => {
  const last = events.at(-1);
  return last?.type === 'worker_died' && last.restartAttempt === null;
};

describe('DeviceWorker', () => {
  it('starts, loads, assigns a part and reports its result, and ends when it is stopped', async () => {
    const events = await supervise('works', (all) => all.at(-1)?.type === 'part_done');
    expect(types(events)).toEqual(['worker_starting', 'worker_loading', 'worker_ready', 'part_done']);
    expect(events.every(({ device }) => device === 'cpu:0')).toBe(true);
  });

  it('gives a worker that is already ending less time, if asked to', async () => {
    const graces: number[] = [];
    const nothing = (): void => undefined;
    const connection = {
      pid: 1,
      send: nothing,
      writeLog: nothing,
      kill: nothing,
      stop: (graceMs: number) => Promise.resolve(void graces.push(graceMs)),
    };
    const worker = new DeviceWorker({ ...OPTIONS, launch: () => connection }, nothing);
    worker.start();
    await Promise.all([worker.stop(10_000), worker.stop(500)]);
    expect(graces).toEqual([10_000, 500]);
  });

  it('restarts a worker that keeps dying up to six times, then gives up', async () => {
    const events = await supervise('dies', isSwitchedOff);
    const deaths = events.filter((event) => event.type === 'worker_died');
    expect(deaths.map(({ restartAttempt }) => restartAttempt)).toEqual([1, 2, 3, 4, 5, 6, null]);
    expect(deaths[0]?.error.cause).toContain('exit code 7');
    expect(types(events).filter((type) => type === 'worker_starting')).toHaveLength(7);
  });

  it.skipIf(process.platform === 'win32')(
    'names the model that a worker was reading when it crashed',
    async () => {
      const load = () => ({ type: 'load', model_folder: '/models/mine' }) as LoadCommand;
      const events = await supervise('crashes', hasDied, { load });
      expect(events.at(-1)).toMatchObject({
        error: { code: 'worker_died', wording: { cause: { values: { folder: '/models/mine' } } } },
      });
    },
  );

  it('gives up at once if a restart cannot help', async () => {
    const events = await supervise('missing', isSwitchedOff);
    expect(types(events)).toEqual(['worker_starting', 'worker_loading', 'worker_died']);
    expect(events.at(-1)).toMatchObject({
      error: {
        code: 'model_missing',
        cause: '/gone is missing.',
        detail: 'No model.',
        wording: { cause: { key: 'error.model_missing.sentence', values: { path: '/gone' } } },
      },
    });
  });

  it("rejects scores of a model other than the run's", async () => {
    const events = await supervise('works', isSwitchedOff, { modelHash: 'f'.repeat(64) });
    expect(types(events)).toEqual(['worker_starting', 'worker_loading', 'worker_died']);
    expect(events.at(-1)).toMatchObject({ error: { code: 'worker_load_failed' } });
  });

  it('kills and names a worker that sends invalid messages, none at all, or that it is idle with a part', async () => {
    for (const [behaviour, code, limits] of [
      ['garbage', 'protocol_garbage', {}],
      ['silent', 'worker_silent', { silentMs: 500 }],
      ['idle', 'worker_stalled', { stepFloorMs: 1_000 }],
    ] as const) {
      const events = await supervise(behaviour, hasDied, { deadlines: { ...DEADLINES, ...limits } });
      expect(events.at(-1)).toMatchObject({ restartAttempt: 1, error: { code } });
    }
  });
});
