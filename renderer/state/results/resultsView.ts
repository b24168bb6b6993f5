import { create } from 'zustand';
import {
  CANDIDATES,
  CONSERVATIVE,
  type Agreement,
  type Evidence,
  type Prediction,
  type Reason,
  type SequenceFilter,
  type SequenceSort,
} from '../../../electron/contract/index.ts';
import { goToRun } from '../navigation.ts';

/** Filter, order and columns of a run's result table; kept while other screens are shown. */
export interface ResultsView {
  readonly search: string;
  /** A sample, and the numbers of its files. */
  readonly sample: { readonly name: string; readonly inputs: readonly number[] } | null;
  /** Empty means all. */
  readonly predictions: readonly Prediction[];
  readonly minScore: number | null;
  readonly belowScore: number | null;
  readonly minLength: number | null;
  readonly maxLength: number | null;
  readonly minScoredChunks: number | null;
  readonly minFramesScored: number | null;
  readonly minViralFraction: number | null;
  readonly minSecondScore: number | null;
  /** Empty means all. */
  readonly reasons: readonly Reason[];
  /** Compares with a table of another tool. */
  readonly other: { readonly table: number; readonly title: string; readonly agreement: Agreement } | null;
  /** Only sequences on which the user has written something. */
  readonly noted: boolean;
  /** Only sequences on the user's shortlist. */
  readonly shortlisted: boolean;
  /** Empty means all. */
  readonly evidence: readonly Evidence[];
  /** For a run that is not done: only final calls, or only calls that may change. */
  readonly settled: boolean | null;
  /** Only sequences with a terminal repeat. */
  readonly terminalRepeat: boolean;
  /** Only sequences with a hint of another genetic code. */
  readonly otherCode: boolean;
  readonly sort: SequenceSort;
  /** The id of an export format. */
  readonly exportFormat: string;
  readonly hiddenColumns: Readonly<Record<string, boolean>>;
  /** Row whose details are open. */
  readonly openRow: number | null;
  /** Its index in the list shown; null if it was not opened from there. */
  readonly openIndex: number | null;
  /** Whether the letters of the open sequence are shown, and of those visited from there. */
  readonly lettersShown: boolean;
  /** Rows that pass the filters; null until the engine has answered. */
  readonly shown: number | null;
  /** A result file of the original VirNucPro with which the run is compared. */
  readonly originalFile: string | null;
}

const NO_FILTERS = {
  search: '',
  sample: null,
  predictions: [],
  minScore: null,
  belowScore: null,
  minLength: null,
  maxLength: null,
  minScoredChunks: null,
  minFramesScored: null,
  minViralFraction: null,
  minSecondScore: null,
  reasons: [],
  other: null,
  noted: false,
  shortlisted: false,
  evidence: [],
  settled: null,
  terminalRepeat: false,
  otherCode: false,
} as const satisfies Partial<ResultsView>;

const FRESH_VIEW: ResultsView = {
  ...NO_FILTERS,
  // Publishable sequences come first, not those with a high score on a single chunk.
  sort: { by: 'evidence', descending: true },
  exportFormat: 'xlsx',
  hiddenColumns: {
    ...{ row: false, viralFraction: false, nChunks: false, bestScore: false, bestChunkStart: false },
    ...{ nFramesScored: false, terminalRepeat: false, reason: false, input: false, header: false },
  },
  openRow: null,
  openIndex: null,
  lettersShown: false,
  shown: null,
  originalFile: null,
};

interface ResultsViewState extends ResultsView {
  readonly runId: string | null;
}

export const useResultsView = create<ResultsViewState>(() => ({ ...FRESH_VIEW, runId: null }));

/** Resets the view when another run is shown. */
export function viewRun(runId: string): void {
  if (useResultsView.getState().runId !== runId) useResultsView.setState({ ...FRESH_VIEW, runId });
}

/** Opens a sequence in the results of its run. */
export function showSequence(runId: string, row: number): void {
  viewRun(runId);
  useResultsView.setState({ openRow: row, openIndex: null });
  goToRun(runId, 'results');
}

export const changeView = (change: Partial<ResultsView>) => useResultsView.setState(change);

/** Resets everything but the columns and the order. */
export const clearFilters = (): void => useResultsView.setState(NO_FILTERS);

/** Named selections, from the widest to the narrowest. */
export const PRESETS = {
  relaxed: { predictions: ['virus'] },
  candidates: CANDIDATES,
  conservative: CONSERVATIVE,
} as const satisfies Record<string, SequenceFilter>;
export type Preset = keyof typeof PRESETS;

/** Applies a preset's selection and removes all other filters. */
export function showPreset(preset: Preset): void {
  clearFilters();
  useResultsView.setState(PRESETS[preset]);
}

export const isFiltered = (view: ResultsView): boolean => Object.keys(filterOf(view)).length > 0;

/** What a chart sets limits to. */
export type Dimension = 'score' | 'length';

/** The filter in the engine's form. A chart that sets limits omits them for itself, since it must also show what lies beyond. */
export function filterOf(view: ResultsView, without: readonly Dimension[] = []): SequenceFilter {
  const search = view.search.trim();
  const score = !without.includes('score');
  const length = !without.includes('length');
  return {
    ...(search === '' ? {} : { search }),
    ...(view.predictions.length === 0 ? {} : { predictions: [...view.predictions] }),
    ...(score && view.minScore !== null ? { minScore: view.minScore } : {}),
    ...(score && view.belowScore !== null ? { belowScore: view.belowScore } : {}),
    ...(length && view.minLength !== null ? { minLength: view.minLength } : {}),
    ...(length && view.maxLength !== null ? { maxLength: view.maxLength } : {}),
    ...(view.sample === null ? {} : { inputs: [...view.sample.inputs] }),
    ...(view.minScoredChunks === null ? {} : { minScoredChunks: view.minScoredChunks }),
    ...(view.minFramesScored === null ? {} : { minFramesScored: view.minFramesScored }),
    ...(view.minViralFraction === null ? {} : { minViralFraction: view.minViralFraction }),
    ...(view.minSecondScore === null ? {} : { minSecondScore: view.minSecondScore }),
    ...(view.reasons.length === 0 ? {} : { reasons: [...view.reasons] }),
    ...(view.other === null ? {} : { other: { table: view.other.table, agreement: view.other.agreement } }),
    ...(view.noted ? { noted: true as const } : {}),
    ...(view.shortlisted ? { shortlisted: true as const } : {}),
    ...(view.evidence.length === 0 ? {} : { evidence: [...view.evidence] }),
    ...(view.settled === null ? {} : { settled: view.settled }),
    ...(view.terminalRepeat ? { terminalRepeat: true as const } : {}),
    ...(view.otherCode ? { otherCode: true as const } : {}),
  };
}

export const SCORE_BINS = 100;
/** Queries follow typing and brushing after this delay. */
export const SETTLE_MS = 180;

/** Limits scores to a range of histogram bins, from the first to below the end; the full range sets no limit. */
export function showScores(firstBin: number, endBin: number): void {
  changeView({
    minScore: firstBin <= 0 ? null : firstBin / SCORE_BINS,
    belowScore: endBin >= SCORE_BINS ? null : endBin / SCORE_BINS,
  });
}
