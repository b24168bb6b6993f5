import {
  deviceNamed,
  errorOf,
  said,
  message,
  type Message,
  type DeviceLive,
  type InputStatus,
  type RunEvent,
  type RunSummary,
  type ExpectedShare,
  type UnusableInput,
  type PartStatus,
  type ExpectedShares,
} from '../../../electron/contract/index.ts';
import { seededRandom } from './random.ts';

/** If `nodes` is given, the devices belong to a cluster. */
export function madeDevices(count: number, nodes = 0): DeviceLive[] {
  const each = Math.ceil(count / Math.max(1, nodes));
  return Array.from({ length: count }, (_, index) => ({
    id: `GPU-${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`,
    name: index % 3 === 2 ? 'NVIDIA RTX A6000' : 'NVIDIA H200',
    index: nodes === 0 ? index : index % each,
    place: nodes === 0 ? null : { node: `gpu-node-${1 + Math.floor(index / each)}`, number: index % each },
    worker: { state: 'working', part: String(40 + index).padStart(6, '0') },
    partFraction: (index * 0.13) % 1,
    partsDone: Math.max(0, 40 - index),
    residuesDone: Math.max(0, 40 - index) * 200_000,
    residuesPerSecond: 41_000,
    framesPerSecond: 245,
    tokensPerBatch: 32_768,
    placement: 'resident',
    utilizationPercent: 97,
    memoryUsedBytes: 23 * 2 ** 30,
    memoryTotalBytes: 141 * 2 ** 30,
    temperatureC: 61,
    powerW: 412,
    batchFillPercent: 96.4,
    fragmentedPercent: 6.2,
    memoryGrowthPercent: 0,
  }));
}

export function madeUnusable({ state }: RunSummary): UnusableInput[] {
  if (state.phase !== 'done' || !state.failedInputs) return [];
  const error = errorOf(said('document', {}));
  return Array.from({ length: state.failedInputs }, (_, index) => ({
    path: `/data/depth-profile/notes${index === 0 ? '' : index + 1}.fa`,
    error,
    repair: null,
  }));
}

export function madeInputs(run: RunSummary, atWork: boolean): InputStatus[] {
  return run.plan.inputs.map((input, index) => {
    const done = !atWork || index === 0;
    const state = done
      ? run.state.phase === 'done' && run.state.failedParts > 0 && index === 1
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
      parts: {
        total,
        done: done ? total : index === 1 ? 61 : 0,
        failed: state === 'done_with_failures' ? 3 : 0,
      },
      residues: { total: total * 262_144, done: done ? total * 262_144 : index === 1 ? 61 * 262_144 : 0 },
      deviceSeconds: done ? total * 11.5 : index === 1 ? 61 * 11.5 : 0,
      problems:
        index === 0
          ? [
              {
                code: 'duplicate_ids',
                values: {},
                count: 12,
                examples: [{ row: 4, name: 'k141_12', detail: 'also row 3' }],
              },
              {
                code: 'empty',
                values: {},
                count: 3,
                examples: [{ row: 9, name: 'k141_99', detail: '' }],
              },
            ]
          : [],
    };
  });
}

export function madeParts(run: RunSummary, atWork: boolean): PartStatus[] {
  const random = seededRandom(5);
  const failures = run.state.phase === 'done' ? run.state.failedParts : atWork ? 1 : 0;
  return Array.from({ length: 480 }, (_, index) => {
    const failed = index >= 77 && index < 77 + failures;
    const state = failed ? 'failed' : !atWork || index < 200 ? 'done' : index < 208 ? 'assigned' : 'pending';
    return {
      key: String(index).padStart(6, '0'),
      state,
      firstRow: index * 208,
      lastRow: index * 208 + 207,
      firstName: `k141_${index * 208 + 1}`,
      lastName: `k141_${index * 208 + 208}`,
      files: ['/data/soil/plot_A.contigs.fasta'],
      frames: 1570 + Math.round(random() * 20),
      residues: 262_144,
      device: state === 'pending' ? null : (madeDevices(8)[index % 8]?.id ?? null),
      seconds: state === 'done' ? 6 + random() : null,
      attempts: failed ? 3 : state === 'pending' ? 0 : 1,
      failure: failed
        ? {
            stage: 'computing',
            error: {
              ...errorOf(said('out_of_memory', {})),
              detail: 'torch.OutOfMemoryError: CUDA out of memory',
            },
          }
        : null,
      logPath: state === 'pending' ? null : 'logs/worker-2.log',
    };
  });
}

export function madeEvents(now: number): RunEvent[] {
  const at = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
  const gpu = (index: number): Message =>
    deviceNamed({
      id: `GPU-${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`,
      name: 'NVIDIA H200',
    });
  const say = (
    minutes: number,
    level: RunEvent['level'],
    code: string,
    { text, wording }: Message,
    detail: string | null = null,
  ) => ({ time: at(minutes), level, code, message: text, wording, detail });
  const killed = message('worker.stopped', { device: 'GPU-5', how: message('exit.killed') });
  const events: Omit<RunEvent, 'id'>[] = [
    say(36, 'info', 'phase', message('phase.created')),
    say(35, 'info', 'phase', message('phase.running')),
    say(
      29,
      'warning',
      'smaller_batches',
      message('note.smaller_batches', { device: gpu(2), after: 12_288, before: 24_576 }),
    ),
    say(
      21,
      'warning',
      'worker_died',
      message('note.worker_restarts', { device: gpu(5), cause: killed }),
      'Traceback (most recent call last): PosixPath(...)',
    ),
    say(1, 'error', 'part_failed', message('note.part_failed', { part: '000077', text: 'out_of_memory' })),
  ];
  return events.map((event, index) => ({ ...event, id: index + 1 }));
}

/** Imitates a growing even sample of reads: an interval that narrows around the run's final result. */
export function madeExpectedShares(run: RunSummary): ExpectedShares {
  const nameOf = (path: string): string => (path.split('/').at(-1) ?? path).replace(/\..*$/, '');
  const samples = [...new Set(run.plan.inputs.map(({ path }) => nameOf(path)))];
  const at = (
    fraction: number,
    share: number,
  ): ExpectedShare & { estimate: NonNullable<ExpectedShare['estimate']> } => {
    const half = (0.004 * (1 - fraction)) / Math.sqrt(fraction);
    return {
      unit: 'sequences',
      viral: 5_210,
      scored: 29_400,
      total: 1_200_000,
      estimate: { share, low: share - half, high: share + half },
    };
  };
  return {
    isSample: run.plan.order === 'sample',
    run: at(0.05, 0.177),
    samples: samples.map((sample, index) => ({
      sample,
      ...at(0.05, 0.05 + (index % 7) * 0.04),
    })),
  };
}
