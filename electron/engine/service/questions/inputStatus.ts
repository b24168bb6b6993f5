import { errorOf } from '../../../contract/errors.ts';
import type { InputStatus, UnusableInput, PartStatus } from '../../../contract/rpc/runs.ts';
import { said } from '../../../contract/problems.ts';
import { isActive } from '../../../contract/runState.ts';
import { filesLeftOut, type InputProgress, type StoredRun } from '../../store/types.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { PartPage } from '../../store/sqlite/parts/partRows.ts';

/** Every input file of a run with its status, in the order given. */
export async function inputStatuses(store: RunStore): Promise<InputStatus[]> {
  const [run, progress] = await Promise.all([store.loadRun(), store.inputProgress()]);
  const progressOf = new Map(progress.map((one) => [one.input, one]));
  const problemsOf = Map.groupBy(run.problems, ({ input }) => input);
  const firstUnread = run.inputs.find((one) => one.prepared === null)?.input;
  return run.inputs.map((input) => {
    const own = progressOf.get(input.input);
    return {
      input: input.input,
      path: input.path,
      sizeBytes: input.sizeBytes,
      state: stateOf(input.input, own, run, firstUnread),
      records: input.prepared?.records ?? null,
      bases: input.prepared?.bases ?? null,
      parts: { total: own?.parts ?? 0, done: own?.partsDone ?? 0, failed: own?.partsFailed ?? 0 },
      residues: { total: own?.residues.total ?? 0, done: own?.residues.done ?? 0 },
      deviceSeconds: own?.deviceSeconds ?? 0,
      problems: (problemsOf.get(input.input) ?? []).map(({ code, values, count, examples }) => ({
        code,
        values,
        count,
        examples: examples.slice(0, 5),
      })),
    };
  });
}

/** The files that a run continues without and that the user has not settled. */
export async function unusableInputs(store: RunStore): Promise<UnusableInput[]> {
  const files = filesLeftOut(await store.loadRun()).filter(({ settled }) => !settled);
  return files.map(({ path, ...why }) => ({
    path,
    error: errorOf(why),
    repair: why.code === 'looks_like_rna' ? 'read_u_as_t' : null,
  }));
}

function stateOf(
  input: number,
  progress: InputProgress | undefined,
  run: StoredRun,
  firstUnread: number | undefined,
): InputStatus['state'] {
  const failure = run.inputs[input]?.failure;
  if (failure) return failure.settled ?? 'failed';
  if (progress?.finished) {
    if (progress.partsFailed === 0) return 'done';
    return progress.partsDone === 0 ? 'failed' : 'done_with_failures';
  }
  // It was read completely, and waits until a device takes its first part.
  if (progress && progress.partsInWork + progress.partsDone + progress.partsFailed > 0) return 'working';
  if (run.inputs[input]?.prepared) return 'waiting';
  return isActive(run.state) && input === firstUnread ? 'preparing' : 'waiting';
}

/** Parts as the window shows them. */
export function partStatuses(page: PartPage): { total: number; items: PartStatus[] } {
  return {
    total: page.total,
    items: page.items.map((part) => ({
      key: part.key,
      state: part.state,
      firstRow: part.firstRow,
      lastRow: part.lastRow,
      firstName: part.firstName,
      lastName: part.lastName,
      files: part.files,
      frames: part.frames,
      residues: part.residues,
      device: part.device,
      seconds: part.seconds,
      attempts: part.attempts,
      failure: part.failure && {
        stage: part.failure.code === 'part_unreadable' ? 'reading' : 'computing',
        error: { ...errorOf(said(part.failure.code, {})), detail: part.failure.message },
      },
      logPath: part.log,
    })),
  };
}
