import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WorkerReady } from '../../contract/protocol/index.ts';
import type { PythonLaunch } from '../environment/pythonLaunch.ts';
import { isProcessAlive } from '../system/liveProcess.ts';
import { DeviceWorker, type LoadCommand } from './backendProcess.ts';
import { DEADLINES } from './deadlines.ts';
import { MADE_UP_PART, madeUpWorker } from './testing/madeUpWorker.ts';
import { WarmWorkers } from './warmWorkers.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

const HASH = '0'.repeat(64);
let folder: string;
let kept: WarmWorkers;
beforeEach(() => {
  folder = temporaryFolder();
  kept = new WarmWorkers();
});
afterEach(async () => {
  await kept.close();
});

interface Run {
  precision?: 'fp32' | 'bf16';
  mostTokens?: number | null;
  device?: string;
  launch?: PythonLaunch;
  atWork?: () => void;
}

/** Computes a part as one run and leaves the worker to the next. */
async function run(
  name: string,
  {
    precision = 'fp32',
    mostTokens = null,
    device = 'cpu:0',
    launch = madeUpWorker('works'),
    atWork,
  }: Run = {},
) {
  await mkdir(join(folder, name), { recursive: true });
  const load = { type: 'load', device: 'cpu', precision, most_tokens_per_batch: mostTokens } as LoadCommand;
  let ready: WorkerReady | undefined;
  let pid = 0;
  await new Promise<void>((resolve, fail) => {
    const worker = new DeviceWorker(
      {
        device,
        launch: kept.launcher(
          launch,
          device,
          join(folder, name, `worker-${device.replace(':', '-')}.log`),
          HASH,
          () => load,
        ),
        load: () => load,
        modelHash: HASH,
        deadlines: DEADLINES,
        restartDelayMs: 1,
      },
      (event) => {
        if (event.type === 'worker_died') fail(new Error(event.error.cause));
        if (event.type === 'worker_ready') {
          ({ ready } = event);
          ({ pid } = worker);
          atWork?.();
          worker.assign(MADE_UP_PART);
        }
        if (event.type === 'part_done') void worker.stop(10_000, true).then(resolve, fail);
      },
    );
    worker.start();
  });
  return { pid, ready };
}

const hasEnded = (pid: number): Promise<void> => expect.poll(() => isProcessAlive(pid)).toBe(false);

describe('WarmWorkers', () => {
  it('gives the next run the worker of the last, which has the model loaded', async () => {
    const first = await run('first');
    expect(kept.memoryBytes).toBe(first.ready?.memory_bytes);
    const second = await run('second');
    expect(second).toEqual({ pid: first.pid, ready: { ...first.ready, load_seconds: 0 } });
    // Each run has the log of its own parts.
    for (const name of ['first', 'second']) {
      const log = await readFile(join(folder, name, 'worker-cpu-0.log'), 'utf8');
      expect(log.match(/assign/g)).toHaveLength(1);
    }
  });

  it('gives a run the worker that was started ahead of it, with all that it said, and starts none beside a run', async () => {
    const starts = (device: string) => join(folder, device.replace(':', '-'));
    const counted = (device: string): PythonLaunch => {
      const { args, ...launch } = madeUpWorker('works');
      const count = `require('fs').appendFileSync(${JSON.stringify(starts(device))}, 'x')`;
      return { ...launch, args: ['-e', `${count}; console.error('Loading PyTorch'); ${args[1]}`, 'works'] };
    };
    const ahead = (device: string): void => kept.startAhead(counted(device), device);
    const started = (device: string) =>
      vi.waitFor(() => readFileSync(starts(device), 'utf8'), { timeout: 30_000 });
    ahead('cpu:0');
    ahead('cpu:0');
    await started('cpu:0');
    await run('first', { launch: counted('cpu:0'), atWork: () => ahead('cpu:1') });
    expect(await readFile(join(folder, 'first', 'worker-cpu-0.log'), 'utf8')).toContain('Loading PyTorch');
    ahead('cpu:2');
    await started('cpu:2');
    expect(await started('cpu:0')).toBe('x');
    expect(existsSync(starts('cpu:1'))).toBe(false);
  });

  it.each<Run>([{ precision: 'bf16' }, { mostTokens: 1 }])(
    'ends a worker that holds another model, or whose batches are too large: %o',
    async (other) => {
      const first = await run('first');
      const second = await run('second', other);
      expect(second.pid).not.toBe(first.pid);
      await hasEnded(first.pid);
    },
  );

  it('ends what waits when its memory is wanted, when it has waited long, and when the program ends', async () => {
    const wanted = await run('wanted');
    expect(isProcessAlive(wanted.pid)).toBe(true);
    await kept.release();
    expect(isProcessAlive(wanted.pid)).toBe(false);

    const closing = await run('closing');
    await kept.close();
    const afterClose = await run('after-close');
    for (const { pid } of [closing, afterClose]) await hasEnded(pid);

    kept = new WarmWorkers(1);
    await hasEnded((await run('long')).pid);
  });

  it('keeps one worker for each device of a processor, and ends them all', async () => {
    const devices = ['cpu:0', 'cpu:1'];
    const kepts = await Promise.all(devices.map((device) => run(`run ${device.at(-1)}`, { device })));
    await kept.release();
    expect(kepts.map(({ pid }) => isProcessAlive(pid))).toEqual([false, false]);
  });

  it('starts another in place of one that has died while it waited', async () => {
    const first = await run('first');
    process.kill(first.pid, 'SIGKILL');
    await expect.poll(() => kept.memoryBytes).toBe(0);
    expect((await run('second')).pid).not.toBe(first.pid);
  });
});
