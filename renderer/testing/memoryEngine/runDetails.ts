import {
  appError,
  type DeviceLive,
  type InputStatus,
  type RunEvent,
  type RunSummary,
  type PartStatus,
} from '../../../electron/contract/index.ts';
import { seededRandom } from './random.ts';

export function madeDevices(count: number): DeviceLive[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `GPU-${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`,
    name: index % 3 === 2 ? 'NVIDIA RTX A6000' : 'NVIDIA H200',
    index,
    worker: { state: 'working', part: String(40 + index).padStart(6, '0') },
    partFraction: (index * 0.13) % 1,
    partsDone: 40 - index,
    residuesDone: 10_485_760 - index * 262_144,
    residuesPerSecond: 41_000,
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
      frames: 1570 + Math.round(random() * 20),
      residues: 262_144,
      device: state === 'pending' ? null : (madeDevices(8)[index % 8]?.id ?? null),
      seconds: state === 'done' ? 6 + random() : null,
      attempts: failed ? 3 : state === 'pending' ? 0 : 1,
      failure: failed
        ? {
            stage: 'Embedding',
            error: appError(
              'part_failed',
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
      code: 'first_part',
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
      code: 'part_failed',
      message: 'Part 78 failed three times.',
      detail: null,
    },
  ];
  return events.map((event, index) => ({ ...event, id: index + 1 }));
}
