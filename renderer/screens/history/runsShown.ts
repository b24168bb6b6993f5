import { modelMark, type RunSummary } from '../../../electron/contract/index.ts';
import { isAtWork } from '../../../electron/contract/runState.ts';
import { fileName } from '../../i18n/names.ts';
import type { Texts } from '../../i18n/index.ts';
import { queuedRuns, runStatus } from '../../state/runs/runs.ts';

type Sortable = string | number | null;

/** Null for a run with the teaching model: beside the numbers of real runs it would be mistaken for one. */
export const viralSequencesShown = (run: RunSummary): number | null =>
  modelMark(run.plan.model) === null ? run.viralSequences : null;

/** A short description of the inputs: the name of a single one, else their number, and the number of samples if files share one. */
export function describeInputs(run: RunSummary, { t }: Pick<Texts, 't'>): string {
  const { inputs } = run.plan;
  const [only] = inputs;
  if (inputs.length === 1 && only) return fileName(only.path);
  const samples = new Set(run.samples).size;
  return samples > 0 && samples < inputs.length
    ? t('history.samples', { samples, count: inputs.length })
    : t('common.fileCount', { count: inputs.length });
}

export const sizeOfInputs = (run: RunSummary): number =>
  run.plan.inputs.reduce((sum, input) => sum + input.sizeBytes, 0);

/** The value by which a column is sorted, which is not always its text. */
function sortValue(run: RunSummary, column: string, t: Texts['t']): Sortable {
  switch (column) {
    case 'name':
      return run.name;
    case 'state':
      return t(`runState.${runStatus(run)}`);
    case 'inputs':
      return sizeOfInputs(run);
    case 'model':
      return run.plan.model.title;
    case 'calls':
      return viralSequencesShown(run);
    case 'time':
      return run.computingSeconds;
    default:
      return run.createdAt;
  }
}

/** Sorts as chosen. Runs without a value come last in either direction; equal runs are sorted by age, newest first. */
export function sortedRuns(
  runs: readonly RunSummary[],
  sorting: { id: string; desc: boolean } | undefined,
  { t, language }: Pick<Texts, 't' | 'language'>,
): RunSummary[] {
  const collator = new Intl.Collator(language, { numeric: true, sensitivity: 'base' });
  const { id, desc } = sorting ?? { id: 'created', desc: true };
  const compare = (a: Sortable, b: Sortable): number => {
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const order =
      typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
    return desc ? -order : order;
  };
  return runs.toSorted(
    (a, b) => compare(sortValue(a, id, t), sortValue(b, id, t)) || b.createdAt.localeCompare(a.createdAt),
  );
}

export type RunGroup = 'now' | 'canGoOn' | 'finished';

const groupOf = (run: RunSummary): RunGroup =>
  isAtWork(run) || runStatus(run) === 'queued' ? 'now' : run.state.phase === 'done' ? 'finished' : 'canGoOn';

/** Runs at work, then those that wait, in the order in which they start; the other groups in the chosen order. */
export function runsInGroups(
  runs: readonly RunSummary[],
  sorting: { id: string; desc: boolean } | undefined,
  texts: Pick<Texts, 't' | 'language'>,
): { group: RunGroup; runs: RunSummary[] }[] {
  const groups = Map.groupBy(sortedRuns(runs, sorting, texts), groupOf);
  const now = groups.get('now') ?? [];
  return [
    { group: 'now' as const, runs: [...now.filter(isAtWork), ...queuedRuns(now)] },
    { group: 'canGoOn' as const, runs: groups.get('canGoOn') ?? [] },
    { group: 'finished' as const, runs: groups.get('finished') ?? [] },
  ].filter((one) => one.runs.length > 0);
}

/** Runs that contain every word in their name, folder, inputs, samples, model, tags or note; newest first. */
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
