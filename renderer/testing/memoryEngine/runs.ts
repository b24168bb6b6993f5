import {
  appError,
  type DeviceLive,
  type InputStatus,
  type RunEvent,
  type RunSummary,
  type ShardStatus,
} from '../../../electron/contract/index.ts';
import { seededRandom } from './random.ts';

export const RUN_IDS = {
  running: '11111111-1111-4111-8111-111111111111',
  queuedFirst: '22222222-2222-4222-8222-222222222222',
  queuedSecond: '33333333-3333-4333-8333-333333333333',
  interrupted: '44444444-4444-4444-8444-444444444444',
  withFailures: '55555555-5555-4555-8555-555555555555',
  done: '66666666-6666-4666-8666-666666666666',
  demo: '77777777-7777-4777-8777-777777777777',
  halted: '88888888-8888-4888-8888-888888888888',
} as const;

const DEMO_NOTICE = 'Demo model: random weights, no biological meaning.';
const hash = (seed: number) => seed.toString(16).padStart(64, '0');

interface RunOptions {
  runId: string;
  name: string;
  state: RunSummary['state'];
  inputs?: readonly string[];
  demo?: boolean;
  hoursAgo?: number;
  more?: Partial<RunSummary>;
}

export function madeRun(options: RunOptions, now: number): RunSummary {
  const inputs = options.inputs ?? ['contigs.fasta'];
  const created = now - (options.hoursAgo ?? 1) * 3_600_000;
  const ended = options.state.phase === 'done';
  const paths = inputs.map((input) => `/data/projects/soil-2026/${input}`);
  return {
    runId: options.runId,
    folder: `/data/results/${options.name.toLowerCase().replace(/\W+/g, '_')}_predictions`,
    name: options.name,
    state: options.state,
    interrupted: false,
    missing: false,
    createdAt: new Date(created).toISOString(),
    finishedAt: ended ? new Date(created + 2_520_000).toISOString() : null,
    plan: {
      inputs: paths.map((path, index) => ({
        path,
        sizeBytes: 48_000_000 + index * 3_100_000,
        sha256: hash(index + 1),
      })),
      model: {
        name: options.demo ? 'demo' : '500',
        title: options.demo ? 'Demo model' : 'VirNucPro 500',
        hash: hash(99),
        folder: '/data/models/500',
        notice: options.demo ? DEMO_NOTICE : null,
      },
      chunkLength: 500,
      precision: options.demo ? 'fp32' : 'bf16',
      tokensPerBatch: 32_768,
      residuesPerShard: 262_144,
      tailShards: 32,
      embedEqualSequencesOnce: true,
      embeddings: null,
    },
    request: {
      inputs: paths,
      model: options.demo ? 'demo' : '500',
      devices: 'auto',
      precision: 'auto',
      embeddings: null,
      embedEqualSequencesOnce: true,
      keepWork: false,
      force: false,
    },
    queuePosition: null,
    fraction: ended ? 1 : null,
    sequences: ended ? 100_000 : null,
    viralSequences: ended ? 17_842 : null,
    ...options.more,
  };
}

const INPUTS = ['sample_A.fasta.gz', 'sample_B.fasta.gz', 'sample_C.fasta.gz', 'control.fna'];

export function madeRuns(now: number): RunSummary[] {
  return [
    madeRun(
      {
        runId: RUN_IDS.running,
        name: 'Soil metagenome, plots A to C',
        state: { phase: 'running' },
        inputs: INPUTS,
        hoursAgo: 0.6,
        more: { fraction: 0.42 },
      },
      now,
    ),
    madeRun(
      {
        runId: RUN_IDS.queuedFirst,
        name: 'River sediment, March',
        state: { phase: 'created' },
        hoursAgo: 0.4,
        more: { queuePosition: 0 },
      },
      now,
    ),
    madeRun(
      {
        runId: RUN_IDS.queuedSecond,
        name: 'Waste water, weekly',
        state: { phase: 'created' },
        inputs: INPUTS.slice(0, 2),
        hoursAgo: 0.2,
        more: { queuePosition: 1 },
      },
      now,
    ),
    madeRun(
      {
        runId: RUN_IDS.interrupted,
        name: 'Bat guano 2025',
        state: { phase: 'running' },
        hoursAgo: 20,
        more: { interrupted: true, fraction: 0.63 },
      },
      now,
    ),
    madeRun(
      {
        runId: RUN_IDS.withFailures,
        name: 'Sea water, depth profile',
        state: { phase: 'done', failedShards: 3, failedRecords: 214 },
        inputs: INPUTS,
        hoursAgo: 50,
      },
      now,
    ),
    madeRun(
      {
        runId: RUN_IDS.done,
        name: 'Lake plankton',
        state: { phase: 'done', failedShards: 0, failedRecords: 0 },
        inputs: INPUTS,
        hoursAgo: 75,
      },
      now,
    ),
    madeRun(
      {
        runId: RUN_IDS.demo,
        name: 'Example',
        state: { phase: 'done', failedShards: 0, failedRecords: 0 },
        inputs: ['example.fasta'],
        demo: true,
        hoursAgo: 99,
        more: { sequences: 200, viralSequences: 21 },
      },
      now,
    ),
    madeRun(
      {
        runId: RUN_IDS.halted,
        name: 'Permafrost core 7',
        state: {
          phase: 'paused',
          error: appError('disk_full', 'There is no room left on the disk of the results folder.'),
        },
        hoursAgo: 30,
        more: { fraction: 0.31 },
      },
      now,
    ),
  ];
}

export function madeDevices(count: number): DeviceLive[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `GPU-${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`,
    name: index % 3 === 2 ? 'NVIDIA RTX A6000' : 'NVIDIA H200',
    index,
    worker: { state: 'working', shard: String(40 + index).padStart(6, '0') },
    shardFraction: (index * 0.13) % 1,
    shardsDone: 40 - index,
    residuesDone: 10_485_760 - index * 262_144,
    tokensPerSecond: 41_000,
    framesPerSecond: 245,
    tokensPerBatch: 32_768,
    placement: 'resident',
    utilizationPercent: 97,
    memoryUsedBytes: 23 * 2 ** 30,
    memoryTotalBytes: (index % 3 === 2 ? 48 : 141) * 2 ** 30,
    temperatureC: 61,
    powerW: 412,
  }));
}

export function madeInputs(run: RunSummary, atWork: boolean): InputStatus[] {
  return run.plan.inputs.map((input, index) => {
    const done = !atWork || index === 0;
    const state = done
      ? run.state.phase === 'done' && run.state.failedShards > 0 && index === 1
        ? 'done_with_failures'
        : 'done'
      : index === 1
        ? 'working'
        : 'waiting';
    const total = 120 + index * 7;
    return {
      input: index,
      path: input.path,
      sizeBytes: input.sizeBytes,
      state,
      records: state === 'waiting' ? null : 25_000,
      bases: state === 'waiting' ? null : 31_400_000,
      shards: {
        total,
        done: done ? total : index === 1 ? 61 : 0,
        failed: state === 'done_with_failures' ? 3 : 0,
      },
      residues: { total: total * 262_144, done: done ? total * 262_144 : index === 1 ? 61 * 262_144 : 0 },
      problems:
        index === 0
          ? [
              {
                code: 'duplicate_id',
                severity: 'warning',
                count: 12,
                examples: [{ row: 4, name: 'k141_12', detail: 'also row 3' }],
              },
              {
                code: 'empty',
                severity: 'skipped',
                count: 3,
                examples: [{ row: 9, name: 'k141_99', detail: '' }],
              },
            ]
          : [],
    };
  });
}

export function madeShards(run: RunSummary, atWork: boolean): ShardStatus[] {
  const random = seededRandom(5);
  const failures = run.state.phase === 'done' ? run.state.failedShards : atWork ? 1 : 0;
  return Array.from({ length: 480 }, (_, index) => {
    const failed = index >= 77 && index < 77 + failures;
    const state = failed ? 'failed' : !atWork || index < 200 ? 'done' : index < 208 ? 'assigned' : 'pending';
    return {
      key: String(index).padStart(6, '0'),
      state,
      firstRow: index * 208,
      lastRow: index * 208 + 207,
      frames: 1570 + Math.round(random() * 20),
      residues: 262_144,
      device: state === 'pending' ? null : (madeDevices(8)[index % 8]?.id ?? null),
      seconds: state === 'done' ? 6 + random() : null,
      attempts: failed ? 3 : state === 'pending' ? 0 : 1,
      failure: failed
        ? {
            stage: 'Embedding',
            error: appError(
              'shard_failed',
              'The memory of GPU 2 did not suffice, even for the smallest batch.',
              {
                nextStep: 'Retry it with smaller batches. If another program uses this GPU, close it first.',
                detail: 'torch.OutOfMemoryError: CUDA out of memory',
              },
            ),
          }
        : null,
      logPath: state === 'pending' ? null : 'logs/worker-2.log',
    };
  });
}

export function madeEvents(now: number): RunEvent[] {
  const at = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
  const events: Omit<RunEvent, 'id'>[] = [
    { time: at(36), level: 'info', code: 'started', message: 'The run started on 8 GPUs.', detail: null },
    {
      time: at(35),
      level: 'info',
      code: 'first_shard',
      message: 'The first part is computed while the rest is still being read.',
      detail: null,
    },
    {
      time: at(29),
      level: 'warning',
      code: 'oom',
      message: 'GPU 2 ran out of memory; it now works in batches half as large.',
      detail: null,
    },
    {
      time: at(21),
      level: 'error',
      code: 'worker_died',
      message: 'The worker of GPU 5 stopped unexpectedly and was started again.',
      detail: 'Its part was handed to GPU 1.',
    },
    { time: at(12), level: 'info', code: 'input_done', message: 'sample_A.fasta.gz is done.', detail: null },
    {
      time: at(1),
      level: 'error',
      code: 'shard_failed',
      message: 'Part 78 failed three times.',
      detail: null,
    },
  ];
  return events.map((event, index) => ({ ...event, id: index + 1 }));
}
