import type { RunSummary } from '../../../electron/contract/index.ts';

/** Runs whose name, folder, inputs, samples, model, tags or note hold every word; newest first. */
export function runsMatching(runs: readonly RunSummary[], search: string): RunSummary[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (run: RunSummary) => {
    const text = [
      run.name,
      run.folder,
      run.plan.model.title,
      run.note,
      ...run.tags,
      ...run.samples,
      ...run.plan.inputs.map((input) => input.path),
    ]
      .join('\n')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return runs
    .filter((run) => words.length === 0 || matches(run))
    .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
}
