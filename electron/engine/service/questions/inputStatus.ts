import type { InputStatus } from '../../../contract/rpc/runs.ts';
import { isActive } from '../../../contract/runState.ts';
import type { InputProgress, StoredRun } from '../../store/types.ts';
import type { RunStore } from '../../store/runStoreFace.ts';

/** Every input file of a run with what became of it, in the order given. */
export async function inputStatuses(store: RunStore): Promise<InputStatus[]> {
  const [run, progress] = await Promise.all([store.loadRun(), store.inputProgress()]);
  return run.inputs.map((input) => {
    const own = progress.find((one) => one.input === input.input);
    return {
      input: input.input,
      path: input.path,
      sizeBytes: input.sizeBytes,
      state: stateOf(input.input, own, run),
      records: input.prepared?.records ?? null,
      bases: input.prepared?.bases ?? null,
      parts: { total: own?.parts ?? 0, done: own?.partsDone ?? 0, failed: own?.partsFailed ?? 0 },
      residues: { total: own?.residues.total ?? 0, done: own?.residues.done ?? 0 },
      problems: run.problems
        .filter((problem) => problem.input === input.input)
        .map(({ code, severity, count, examples }) => ({ code, severity, count, examples })),
    };
  });
}

function stateOf(input: number, progress: InputProgress | undefined, run: StoredRun): InputStatus['state'] {
  if (progress?.finished) {
    if (progress.partsFailed === 0) return 'done';
    return progress.partsDone === 0 ? 'failed' : 'done_with_failures';
  }
  const { prepared } = run.inputs[input] ?? {};
  if (prepared || (progress && progress.parts > 0)) return 'working';
  const firstUnread = run.inputs.find((one) => one.prepared === null)?.input;
  return isActive(run.state) && input === firstUnread ? 'preparing' : 'waiting';
}
