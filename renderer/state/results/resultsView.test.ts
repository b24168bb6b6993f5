import { describe, expect, it } from 'vitest';
import {
  changeFilter,
  filterOf,
  PRESETS,
  SCORE_BINS,
  showPreset,
  showScores,
  useResultsView,
  viewRun,
} from './resultsView.ts';

describe('the brushed score range', () => {
  it('is no filter if it covers all scores, and else begins and ends at bins', () => {
    viewRun('brushed');
    showScores(0, SCORE_BINS);
    expect(filterOf(useResultsView.getState())).toEqual({});
    showScores(90, SCORE_BINS);
    expect(filterOf(useResultsView.getState())).toEqual({ minScore: 0.9 });
    showScores(0, 50);
    expect(filterOf(useResultsView.getState())).toEqual({ belowScore: 0.5 });
  });
});

describe('the filter', () => {
  it('has no spaces around what is searched for', () => {
    viewRun('two');
    changeFilter({ minScore: 0.7, search: '  k141 ' });
    expect(filterOf(useResultsView.getState())).toEqual({ minScore: 0.7, search: 'k141' });
  });

  it('contains exactly what a preset sets', () => {
    viewRun('presets');
    changeFilter({ search: 'k141', minScore: 0.3 });
    showPreset('conservative');
    expect(filterOf(useResultsView.getState())).toEqual(PRESETS.conservative);
    showPreset('candidates');
    expect(filterOf(useResultsView.getState())).toEqual(PRESETS.candidates);
  });

  it('is reset for another run, and kept for the same one', () => {
    viewRun('three');
    changeFilter({ search: 'x' });
    viewRun('three');
    expect(useResultsView.getState().filter.search).toBe('x');
    viewRun('four');
    expect(useResultsView.getState().filter.search).toBeUndefined();
  });
});
