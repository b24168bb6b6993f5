import { errorOf } from '../../../contract/errors.ts';
import type { FailedPart, InputStatus, UnusableInput } from '../../../contract/rpc/runs.ts';
import { said } from '../../../contract/problems.ts';
import { isActive } from '../../../contract/runState.ts';
import { filesLeftOut, type InputProgress, type StoredRun } from '../../store/types.ts';
import type { RunStore } from '../../store/runStore.ts';

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

/** Failed parts that a window lists. */
const MOST_LISTED = 50;

/** The parts that were given up, as a window shows them. */
export async function givenUpParts(
  store: RunStore,
): Promise<{ failed: number; skipped: number; items: FailedPart[] }> {
  const [{ counts, inputs }, parts] = await Promise.all([store.loadRun(), store.failedParts(MOST_LISTED)]);
  const { failed, skipped } = counts.parts;
  const items = parts.map(
    ({ key, firstRow, lastRow, firstName, lastName, device, attempts, failure, log }) => ({
      ...{ key, firstRow, lastRow, firstName, lastName, device, attempts },
      files: inputs.flatMap(({ path, prepared }) =>
        prepared && prepared.firstRow <= lastRow && prepared.firstRow + prepared.records > firstRow
          ? [path]
          : [],
      ),
      failure: failure && {
        stage: failure.code === 'part_unreadable' ? ('reading' as const) : ('computing' as const),
        error: { ...errorOf(said(failure.code, {})), detail: failure.message },
      },
      logPath: log,
    }),
  );
  return { failed, skipped, items };
}
