import { create } from 'zustand';
import {
  CANDIDATES,
  CONSERVATIVE,
  SEQUENCE_FIELDS,
  sequenceColumn,
  type SequenceFilter,
  type SequenceSort,
} from '../../../electron/contract/index.ts';
import { goToRun } from '../navigation.ts';

/** Filter, order and columns of a run's result table; kept while other screens are shown. */
export interface ResultsView {
  /** The search has the spaces that were typed. */
  readonly filter: SequenceFilter;
  /** Title of the other tool's table that the filter compares with. */
  readonly otherTitle: string;
  readonly sort: SequenceSort;
  readonly exportFormat: string;
  readonly hiddenColumns: Readonly<Record<string, boolean>>;
  /** Row whose details are open. */
  readonly openRow: number | null;
  /** Whether the letters of the open sequence are shown, and of those visited from there. */
  readonly lettersShown: boolean;
  /** Rows that pass the filters; null until the engine has answered. */
  readonly shown: number | null;
  /** A result file of the original VirNucPro with which the run is compared. */
  readonly originalFile: string | null;
  /** Tables of other tools were just added: the user is asked about those that make no call. */
  readonly tablesAdded: boolean;
}

const FRESH_VIEW: ResultsView = {
  filter: {},
  otherTitle: '',
  // Publishable sequences come first, not those with a high score on a single chunk.
  sort: { by: 'evidence', descending: true },
  exportFormat: 'xlsx',
  hiddenColumns: Object.fromEntries(
    SEQUENCE_FIELDS.filter((key) => !sequenceColumn(key).isShown).map((key) => [key, false]),
  ),
  openRow: null,
  lettersShown: false,
  shown: null,
  originalFile: null,
  tablesAdded: false,
};

interface ResultsViewState extends ResultsView {
  readonly runId: string | null;
}

export const useResultsView = create<ResultsViewState>(() => ({ ...FRESH_VIEW, runId: null }));

/** Resets the view when another run is shown. */
export function viewRun(runId: string): void {
  if (useResultsView.getState().runId !== runId) useResultsView.setState({ ...FRESH_VIEW, runId });
}

export function showSequence(runId: string, row: number): void {
  viewRun(runId);
  useResultsView.setState({ openRow: row });
  goToRun(runId, 'results');
}

export const changeView = (change: Partial<ResultsView>) => useResultsView.setState(change);

/** Other values of some fields of a filter. Null, an empty text or an empty list removes a field. */
export type FilterChange = { readonly [Field in keyof SequenceFilter]: SequenceFilter[Field] | null };

const isSet = (value: unknown) =>
  value !== null && value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);

export const changed = (filter: SequenceFilter, change: FilterChange): SequenceFilter =>
  Object.fromEntries(Object.entries({ ...filter, ...change }).filter(([, value]) => isSet(value)));

export const changeFilter = (change: FilterChange) =>
  useResultsView.setState(({ filter }) => ({ filter: changed(filter, change) }));

export const clearFilters = () => changeView({ filter: {} });

/** Named selections, from the widest to the narrowest. */
export const PRESETS = {
  relaxed: { predictions: ['virus'] },
  candidates: CANDIDATES,
  conservative: CONSERVATIVE,
} as const satisfies Record<string, SequenceFilter>;
export type Preset = keyof typeof PRESETS;

/** Applies a preset's selection and removes all other filters. */
export const showPreset = (preset: Preset) => changeView({ filter: PRESETS[preset] });

export const isFiltered = (view: ResultsView): boolean => Object.keys(filterOf(view)).length > 0;

/** The filter for the engine. */
export const filterOf = ({ filter }: Pick<ResultsView, 'filter'>): SequenceFilter =>
  changed(filter, { search: filter.search?.trim() ?? null });

export const SCORE_BINS = 100;
/** Queries follow typing and brushing after this delay. */
export const FILTER_REST_MS = 180;

/** Limits scores to a range of histogram bins, from the first to below the end; the full range sets no limit. */
export function showScores(firstBin: number, endBin: number): void {
  changeFilter({
    minScore: firstBin <= 0 ? null : firstBin / SCORE_BINS,
    belowScore: endBin >= SCORE_BINS ? null : endBin / SCORE_BINS,
  });
}
