import {
  deviceNamed,
  errorOf,
  said,
  message,
  type Message,
  type InputStatus,
  type RunEvent,
  type RunProgress,
  type RunSummary,
  type ExpectedShare,
  type UnusableInput,
  type FailedPart,
  type PartState,
  type ExpectedShares,
} from '../../../electron/contract/index.ts';
import { ROWS_OF_PART } from './runs.ts';
import { countCalls, seqName } from './sequences.ts';
import { isAtWork, type World } from './world.ts';

export const RESIDUES_OF_PART = 262_144;
export const BASES_OF_RECORD = 1258;

export function madeUnusable({ state }: RunSummary): UnusableInput[] {
  if (state.phase !== 'done' || !state.failedInputs) return [];
  const error = errorOf(said('document', {}));
  return Array.from({ length: state.failedInputs }, (_, index) => ({
    path: `/data/depth-profile/notes${index === 0 ? '' : index + 1}.fa`,
    error,
    repair: null,
  }));
}

/** How many parts of a run there are, by state, at a fraction of its work. */
export function partCounts(world: World, run: RunSummary, fraction = fractionOf(run)): RunProgress['parts'] {
  const total = Math.ceil(world.recordsOf(run) / ROWS_OF_PART);
  const failed = run.state.phase === 'done' ? run.state.failedParts : isAtWork(run) ? 1 : 0;
  const done = Math.max(0, Math.floor(total * fraction) - failed);
  return { total, done, failed, inWork: isAtWork(run) ? world.devices.length : 0 };
}

export const fractionOf = (run: RunSummary) => (run.state.phase === 'done' ? 1 : (run.fraction ?? 0));

interface MadePart extends FailedPart {
  state: PartState;
  input: number;
}

/** Those that failed come first. */
export function madeParts(world: World, run: RunSummary): MadePart[] {
  const { total, done, failed, inWork } = partCounts(world, run);
  const { inputs } = run.plan;
  const nameOf = (row: number) => world.sequencesOf(run.runId)[row]?.seqName ?? seqName(row);
  return Array.from({ length: total }, (_, index) => {
    const hasFailed = index < failed;
    const isDone = !hasFailed && index < failed + done;
    const isAssigned = !hasFailed && !isDone && index < failed + done + inWork;
    const isPending = !hasFailed && !isDone && !isAssigned;
    const firstRow = index * ROWS_OF_PART;
    const lastRow = Math.min(firstRow + ROWS_OF_PART, world.recordsOf(run)) - 1;
    const input = Math.floor((index * inputs.length) / total);
    return {
      key: String(index).padStart(6, '0'),
      state: hasFailed ? 'failed' : isDone ? 'done' : isAssigned ? 'assigned' : 'pending',
      ...{ firstRow, lastRow, firstName: nameOf(firstRow), lastName: nameOf(lastRow) },
      input,
      files: [inputs[input]?.path ?? ''],
      device: isPending ? null : (world.devices[index % world.devices.length]?.id ?? null),
      attempts: hasFailed ? 3 : isPending ? 0 : 1,
      failure: hasFailed ? OUT_OF_MEMORY : null,
      logPath: isPending ? null : 'logs/worker-2.log',
    };
  });
}

const OUT_OF_MEMORY: FailedPart['failure'] = {
  stage: 'computing',
  error: { ...errorOf(said('out_of_memory', {})), detail: 'torch.OutOfMemoryError: CUDA out of memory' },
};

/** The files of a run, by the parts into which they were cut. */
export function madeInputs(world: World, run: RunSummary): InputStatus[] {
  const parts = Map.groupBy(madeParts(world, run), ({ input }) => input);
  return run.plan.inputs.map(({ path, sizeBytes }, index) => {
    const all = parts.get(index) ?? [];
    const count = (state: PartState) => all.filter((part) => part.state === state).length;
    const [done, failed, pending] = [count('done'), count('failed'), count('pending')];
    const isDone = done + failed === all.length;
    const isWaiting = pending === all.length;
    const rows = isWaiting
      ? null
      : all.reduce((sum, { firstRow, lastRow }) => sum + lastRow - firstRow + 1, 0);
    return {
      ...{ input: index, path, sizeBytes },
      state: isDone ? (failed > 0 ? 'done_with_failures' : 'done') : isWaiting ? 'waiting' : 'working',
      records: rows,
      bases: rows === null ? null : rows * BASES_OF_RECORD,
      parts: { total: all.length, done, failed },
      residues: { total: all.length * RESIDUES_OF_PART, done: done * RESIDUES_OF_PART },
      deviceSeconds: done * 11.5,
      problems:
        index === 0
          ? [
              {
                ...{ code: 'duplicate_ids', values: {}, count: 12 },
                examples: [{ row: 4, name: seqName(4), detail: 'also row 3' }],
              },
              {
                ...{ code: 'empty', values: {}, count: 3 },
                examples: [{ row: 9, name: seqName(9), detail: '' }],
              },
            ]
          : [],
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

/** What the rows that there are say of all. */
export function madeExpectedShares(world: World, run: RunSummary): ExpectedShares {
  const rows = world.sequencesOf(run.runId);
  const shareOf = (some: typeof rows, total: number): ExpectedShare => {
    const { virus, others } = countCalls(some);
    const share = virus / Math.max(1, virus + others);
    return {
      ...{ unit: 'sequences', viral: virus, scored: virus + others, total },
      estimate: { share, low: Math.max(0, share - 0.017), high: share + 0.017 },
    };
  };
  const total = world.recordsOf(run);
  return {
    isSample: run.plan.order === 'sample',
    run: shareOf(rows, total),
    samples: [...new Set(run.samples)].map((sample) => ({
      sample,
      ...shareOf(
        rows.filter(({ input }) => run.samples[input] === sample),
        Math.round(total / run.plan.inputs.length),
      ),
    })),
  };
}
