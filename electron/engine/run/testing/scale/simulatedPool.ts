/**
 * The pool of a simulated cluster: its workers compute nothing, and take for a part the time that a GPU was measured to take.
 * They say as much as real ones do, and leave scores that the store takes for real. Started by benchScale.ts in place of
 * `virnucpro_backend.cluster`.
 */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import {
  PROTOCOL_VERSION,
  poolCommandSchema,
  type PartCommand,
} from '../../../../contract/protocol/index.ts';
import { safetensorsBytes } from '../../../store/testing/safetensorsWriter.ts';

const HEARTBEAT_MS = 2_000;
const PROGRESS_MS = 500;
const SAMPLE_MS = 1_000;
/** Parts take equally long on equal GPUs, but for this share more or less. */
const SPREAD = 0.03;
const DEVICES_PER_NODE = 8;

const config = z
  .object({
    workers: z.int().positive(),
    partSeconds: z.number().positive(),
    residuesPerPart: z.int().positive(),
    modelHash: z.string(),
    report: z.string(),
  })
  .parse(JSON.parse(process.env['VIRNUCPRO_SIMULATED_CLUSTER'] ?? '{}'));

interface Worker {
  readonly device: string;
  readonly parts: PartCommand[];
  idleSince: number | null;
  idleMs: number;
  busyMs: number;
  done: number;
}

const workers = new Map<string, Worker>();
const timers: NodeJS.Timeout[] = [];
const scores = new Map<number, { bytes: Buffer; sha256: string }>();
let lines = 0;

function say(message: object): void {
  lines += 1;
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

const workerSays = (device: string, event: object): void => say({ type: 'worker_line', device, event });
const hello = (role: string) => ({
  type: 'hello',
  protocol: PROTOCOL_VERSION,
  role,
  pid: process.pid,
  backend_version: 'simulated',
  python_version: '3',
});

function scoresOf(frames: number): { bytes: Buffer; sha256: string } {
  const known = scores.get(frames);
  if (known) return known;
  const score2 = Float32Array.from({ length: frames }, (_, frame) => ((37 * frame) % 101) / 101);
  const bytes = safetensorsBytes({
    score1: score2.map((score) => 1 - score),
    score2,
    state: new Uint8Array(frames),
  });
  const made = { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
  scores.set(frames, made);
  return made;
}

/** The same for every run of the simulation. */
let seed = 7;
function chance(): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  return seed / 2 ** 32;
}

function compute(worker: Worker): void {
  const [part] = worker.parts;
  const now = performance.now();
  if (!part) {
    worker.idleSince = now;
    return;
  }
  if (worker.idleSince !== null) worker.idleMs += now - worker.idleSince;
  worker.idleSince = null;
  const milliseconds = 1000 * config.partSeconds * (1 + SPREAD * (2 * chance() - 1));
  const frames = part.frame_end - part.frame_begin;
  const progress = (share: number): void =>
    workerSays(worker.device, {
      type: 'progress',
      part: part.part,
      frames_done: Math.floor(share * frames),
      residues_done: Math.floor(share * config.residuesPerPart),
      residues_total: config.residuesPerPart,
    });
  const ticker = setInterval(
    () => progress(Math.min(0.99, (performance.now() - now) / milliseconds)),
    PROGRESS_MS,
  );
  setTimeout(() => {
    clearInterval(ticker);
    void finish(worker, part, frames, milliseconds / 1000);
  }, milliseconds);
}

async function finish(worker: Worker, part: PartCommand, frames: number, seconds: number): Promise<void> {
  const { bytes, sha256 } = scoresOf(frames);
  worker.busyMs += 1000 * seconds;
  worker.done += 1;
  worker.parts.shift();
  // A GPU goes on with the next part while the scores are written.
  compute(worker);
  await writeFile(part.scores_path, bytes);
  workerSays(worker.device, {
    type: 'part_done',
    part: part.part,
    scores_path: part.scores_path,
    scores_sha256: sha256,
    embeddings_sha256: null,
    frames,
    residues: config.residuesPerPart,
    seconds,
    frames_recomputed_fp32: 0,
    frames_failed: 0,
    frames_outside_norm_band: 0,
    norms: { esm2: [13, 14.5], dnabert_s: [2.5, 4] },
    batch_halvings: 0,
    repeated_proteins: 0,
    repeated_nucleotides: 0,
    esm2_batches: 12,
    esm2_tokens: config.residuesPerPart,
    peak_memory_bytes: 8e9,
    peak_allocated_bytes: 7.5e9,
  });
}

function every(milliseconds: number, act: () => void): void {
  timers.push(setInterval(act, milliseconds));
}

function startWorker(device: string): void {
  const worker: Worker = { device, parts: [], idleSince: null, idleMs: 0, busyMs: 0, done: 0 };
  workers.set(device, worker);
  workerSays(device, hello('worker'));
  every(HEARTBEAT_MS, () =>
    workerSays(device, {
      type: 'heartbeat',
      step: worker.parts.length > 0 ? 'computing' : 'idle',
      steps_done: Math.floor(performance.now()),
      part: worker.parts[0]?.part ?? null,
      processor_seconds: performance.now() / 1000,
      rss_bytes: 4e9,
      device_memory_bytes: 8e9,
    }),
  );
  every(SAMPLE_MS, () =>
    say({
      type: 'device_sample',
      device,
      time: Date.now() / 1000,
      utilization_percent: worker.parts.length > 0 ? 100 : 0,
      memory_used_bytes: 8e9,
      temperature_c: 60,
      power_w: 690,
    }),
  );
}

function tell(device: string, command: z.infer<typeof poolCommandSchema> & { type: 'worker_command' }): void {
  const worker = workers.get(device);
  if (!worker) return;
  const { command: order } = command;
  if (order.type === 'load')
    workerSays(device, {
      type: 'ready',
      device_uuid: null,
      precision: order.precision,
      tokens_per_batch: order.tokens_per_batch,
      placement: 'resident',
      memory_profile: null,
      memory_free_bytes: null,
      attention: 'none',
      model_hash: config.modelHash,
      load_seconds: 0,
      torch_version: 'none',
      memory_bytes: 8e9,
    });
  if (order.type === 'part') {
    worker.parts.push(order);
    if (worker.parts.length === 1) compute(worker);
  }
  if (order.type === 'recall') {
    const place = worker.parts.findIndex(({ part }) => part === order.part);
    if (place <= 0) return;
    worker.parts.splice(place, 1);
    workerSays(device, { type: 'part_failed', part: order.part, code: 'recalled', message: '', detail: '' });
  }
}

function open(): void {
  say({ type: 'pool_ready', version: 'Simulated', job: null });
  for (let number = 0; number < config.workers; number++)
    say({
      type: 'device_joined',
      device: `gpu-${number}`,
      node: `node-${Math.floor(number / DEVICES_PER_NODE)}`,
      name: 'Simulated GPU',
      kind: 'cuda',
      memory_total_bytes: 140e9,
      until: null,
    });
}

function close(): void {
  for (const timer of timers) clearInterval(timer);
  const sum = (of: (worker: Worker) => number): number =>
    [...workers.values()].reduce((total, worker) => total + of(worker), 0);
  const figures = {
    lines,
    parts: sum(({ done }) => done),
    busySeconds: sum(({ busyMs }) => busyMs) / 1000,
    idleSeconds: sum(({ idleMs }) => idleMs) / 1000,
  };
  writeFileSync(config.report, JSON.stringify(figures));
  say({ type: 'bye', reason: 'stop' });
  process.exit(0);
}

say(hello('pool'));
createInterface({ input: process.stdin }).on('line', (line) => {
  const command = poolCommandSchema.parse(JSON.parse(line));
  switch (command.type) {
    case 'open_pool':
      open();
      break;
    case 'start_worker':
      startWorker(command.device);
      break;
    case 'worker_command':
      tell(command.device, command);
      break;
    case 'end_worker':
    case 'kill_worker':
      say({ type: 'worker_exit', device: command.device, exit_code: 0, signal: null, last_lines: [] });
      break;
    case 'close_pool':
      close();
      break;
  }
});
