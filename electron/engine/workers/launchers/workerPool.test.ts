/** A pool that is a Node program: it speaks for workers on made-up nodes, and does as its first argument says. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROTOCOL_VERSION } from '../../../contract/protocol/index.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
import { DEADLINES } from '../deadlines.ts';
import { DeviceWorker, type DeviceWorkerEvent, type LoadCommand } from '../deviceWorker.ts';
import { MADE_UP_PART } from '../testing/madeUpPart.ts';
import { WorkerPool, type WorkerPoolEvent, type WorkerPoolOptions } from './workerPool.ts';

const PROGRAM = `
const [behaviour] = process.argv.slice(1);
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const hello = (role, protocol = ${PROTOCOL_VERSION}) => ({ type: 'hello', protocol, role, pid: 1, backend_version: '1', python_version: '3' });
const join = (device, node = 'node1') => say({ type: 'device_joined', device, node, name: 'H200', kind: 'cuda',
  memory_total_bytes: 1, until: null });
const line = (device, event) => say({ type: 'worker_line', device, event });
const exit = (device, exit_code = 1) => say({ type: 'worker_exit', device, exit_code, signal: null, last_lines: ['sorry'] });
const left = (device) => say({ type: 'device_left', device, reason: 'preempted' });
const hash = '0'.repeat(64);
const ready = { type: 'ready', device_uuid: null, precision: 'bf16', tokens_per_batch: 512,
  placement: 'resident', memory_profile: null, memory_free_bytes: null, attention: 'plain',
  model_hash: hash, load_seconds: 0, torch_version: '2', memory_bytes: 1 };
const answers = {
  open_pool() {
    if (behaviour === 'refuses') {
      say({ type: 'pool_failed', code: 'not_allowed', message: 'No token.', next_step: 'Ask for one.' });
      return;
    }
    say({ type: 'pool_ready', version: 'Made-up 1', job: '42' });
    if (behaviour === 'empty') { say({ type: 'pool_waiting', waiting: 0, reason: 'No node has a GPU.' }); return; }
    say({ type: 'pool_waiting', waiting: 1, reason: 'Priority' });
    if (behaviour === 'queues') return;
    if (behaviour === 'lies') left('nobody');
    if (behaviour === 'many') for (let i = 0; i < 20000; i++) join('d' + i, 'n'.repeat(180) + i);
    if (behaviour === 'flaps') for (let i = 0; i < 60000; i++) { join('a'); left('a'); }
    if (behaviour === 'floods') {
      for (let i = 0; i < 20000; i++) say({ type: 'log', level: 'warning', message: 'w'.repeat(3000) });
      for (let i = 0; i < 20000; i++) say({ type: 'pool_waiting', waiting: 1, reason: String(i) });
    }
    if (behaviour === 'finished') { say({ type: 'bye', reason: 'finished' }); process.exit(0); }
    join('a'); join('b');
  },
  start_worker({ device }) { line(device, hello('worker', /^(old_worker|deaf)$/.test(behaviour) ? 1 : ${PROTOCOL_VERSION})); },
  worker_command({ device, command }) {
    if (command.type === 'load') line(device, ready);
    if (command.type !== 'part') return;
    if (behaviour === 'dies') process.exit(3);
    if (behaviour === 'node_lost') { exit(device, null); setTimeout(() => left(device), 50); }
    if (behaviour === 'worker_dies') exit(device);
  },
  end_worker({ device }) { exit(device, 0); },
  kill_worker({ device }) { if (behaviour !== 'deaf') exit(device, null); },
  close_pool() { say({ type: 'bye', reason: 'stop' }); process.exit(0); },
};
say(hello('pool'));
let buffered = '';
process.stdin.on('data', (data) => {
  const lines = (buffered + data).split('\\n');
  buffered = lines.pop();
  for (const text of lines) { const command = JSON.parse(text); answers[command.type](command); }
});
process.stdin.on('end', () => process.exit(0));
`;

type Heard = WorkerPoolEvent | DeviceWorkerEvent;

/** The pool with a supervised worker on its device `a`, which gets a part as soon as it is ready, until `isOver`. */
async function work(
  behaviour: string,
  isOver: (heard: readonly Heard[]) => boolean,
  options: Partial<WorkerPoolOptions> = {},
): Promise<Heard[]> {
  const folder = await temporaryFolder();
  const heard: Heard[] = [];
  let finish = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const workers = new Map<string, DeviceWorker>();
  const hear = (event: Heard): void => {
    heard.push(event);
    if (event.type === 'device_joined' && event.device === 'a' && behaviour !== 'flaps')
      startWorker(event.device);
    if (event.type === 'device_left') workers.get(event.device)?.abandon();
    if (event.type === 'worker_ready') workers.get(event.device)?.assign(MADE_UP_PART);
    if (isOver(heard)) finish();
  };
  const pool = new WorkerPool(
    {
      launch: { file: process.execPath, args: ['-e', PROGRAM, behaviour], env: {} },
      logPath: join(folder, 'pool.log'),
      open: {
        type: 'open_pool',
        pool: { kind: 'ray', address: 'head:6379', shared_storage: true, cpu_workers_per_node: 0 },
        run_folder: folder,
        pool_folder: folder,
      },
      deadlines: DEADLINES,
      restartDelayMs: 1,
      patience: { nodeLossMs: 2_000, confirmMs: 100 },
      ...options,
    },
    hear,
  );
  const startWorker = (device: string): void => {
    const worker = new DeviceWorker(
      {
        device,
        launch: pool.launcher(device, join(folder, 'worker.log')),
        load: () => ({ type: 'load' }) as LoadCommand,
        modelHash: '0'.repeat(64),
        deadlines: DEADLINES,
        restartDelayMs: 1,
      },
      hear,
    );
    workers.set(device, worker);
    worker.start();
  };
  pool.start();
  await over;
  await Promise.all([...workers.values()].map((worker) => worker.stop(1_000)));
  await pool.stop();
  return heard;
}

const has =
  (type: Heard['type'], times = 1) =>
  (heard: readonly Heard[]): boolean =>
    heard.at(-1)?.type === type && heard.filter((event) => event.type === type).length >= times;
const only = <Type extends Heard['type']>(heard: readonly Heard[], type: Type) =>
  heard.filter((event): event is Extract<Heard, { type: Type }> => event.type === type);

describe('a pool', () => {
  it('brings devices, and workers that are spoken to like those of this computer', async () => {
    const heard = await work('works', has('worker_ready'));
    expect(only(heard, 'pool_ready')).toMatchObject([{ version: 'Made-up 1', job: '42' }]);
    expect(only(heard, 'pool_note')).toMatchObject([{ message: 'Priority' }]);
    expect(only(heard, 'device_joined')).toMatchObject([
      { name: 'GPU 0 of node1', joined: { number: 0 } },
      { name: 'GPU 1 of node1', joined: { number: 1 } },
    ]);
    // Both were told to end, and did.
    expect(only(heard, 'worker_died')).toEqual([]);
    expect(only(heard, 'pool_died')).toEqual([]);
  });

  it('loses a node: that its worker ended is no failure of the worker', async () => {
    const heard = await work('node_lost', has('device_left'));
    expect(only(heard, 'device_left')).toMatchObject([{ device: 'a', reason: 'preempted' }]);
    expect(only(heard, 'worker_died')).toEqual([]);
    const died = await work('worker_dies', has('worker_died'), { patience: { nodeLossMs: 1 } });
    expect(only(died, 'worker_died')).toMatchObject([{ restartAttempt: 1, error: { code: 'worker_died' } }]);
  });

  it('is told of a worker that is not ours, and takes a device for lost whose worker it cannot end', async () => {
    const heard = await work('old_worker', has('worker_died'));
    expect(only(heard, 'worker_died')[0]).toMatchObject({ error: { code: 'protocol_version' } });
    const deaf = await work('deaf', has('device_left'));
    expect(only(deaf, 'device_left')).toMatchObject([
      { reason: 'Its worker did not end when it was told to.' },
    ]);
    expect(only(deaf, 'worker_died')).toEqual([]);
  });

  it('that dies takes its devices with it, and is started again', async () => {
    const heard = await work('dies', has('pool_died', 2));
    const types = heard.map(({ type }) => type);
    expect(types.indexOf('pool_died')).toBeLessThan(types.indexOf('device_left'));
    expect(only(heard, 'device_left').length).toBeGreaterThanOrEqual(2);
    expect(only(heard, 'worker_died')).toEqual([]);
    expect(only(heard, 'pool_died')).toMatchObject([
      {
        restartAttempt: 1,
        error: { code: 'cluster_lost', cause: expect.stringMatching(/exit code 3/) as string },
      },
      { restartAttempt: 2 },
    ]);
  });

  it('that cannot work, or has nothing more to lend, is not started again', async () => {
    const refused = await work('refuses', has('pool_died'));
    expect(only(refused, 'pool_died')).toMatchObject([
      {
        restartAttempt: null,
        error: { code: 'cluster_failed', cause: 'No token.', nextStep: 'Ask for one.' },
      },
    ]);
    const finished = await work('finished', has('pool_died'));
    expect(only(finished, 'pool_died')).toMatchObject([
      { restartAttempt: null, error: { cause: 'The cluster lends this run no devices any more.' } },
    ]);
  });

  it('that lends nothing for as long as was allowed is over, with the reason that it gave', async () => {
    const maxWaitMs = 1;
    const empty = await work('empty', has('pool_died'), { maxWaitMs });
    expect(only(empty, 'pool_note')).toMatchObject([{ message: 'No node has a GPU.' }]);
    expect(only(empty, 'pool_died')).toMatchObject([
      {
        restartAttempt: null,
        error: { code: 'cluster_failed', cause: expect.stringContaining('No node has a GPU.') as string },
      },
    ]);
    const queued = await work('queues', has('pool_died'), { maxWaitMs });
    expect(only(queued, 'pool_died')).toMatchObject([{ restartAttempt: null }]);
  });

  it('that lies or says more than anybody can keep is ended in words', async () => {
    const lies = await work('lies', has('pool_died'));
    expect(only(lies, 'pool_died')[0]?.error.cause).toContain('a device that has not joined (nobody)');
    const many = await work('many', has('pool_died'));
    expect(only(many, 'device_joined')).toHaveLength(10_000);
    expect(only(many, 'pool_died')[0]?.error.cause).toContain('more than 10000 devices');
    const flaps = await work('flaps', has('pool_died'));
    expect(only(flaps, 'device_joined').length).toBeLessThan(11_000);
    expect(only(flaps, 'pool_died')[0]?.error.cause).toContain('join and leave without end');
    const floods = await work('floods', has('device_joined', 2));
    expect(only(floods, 'pool_note').length).toBeLessThan(110);
    expect(only(floods, 'pool_note').every(({ message }) => message.length <= 2_000)).toBe(true);
  });
});
