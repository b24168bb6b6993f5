import { describe, expect, it } from 'vitest';
import {
  changeView,
  filterOf,
  isFiltered,
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
    expect(filterOf(useResultsView.getState(), { withScore: true })).toEqual({});
    showScores(90, SCORE_BINS);
    expect(filterOf(useResultsView.getState(), { withScore: true })).toEqual({ minScore: 0.9 });
    showScores(0, 50);
    expect(filterOf(useResultsView.getState(), { withScore: true })).toEqual({ belowScore: 0.5 });
  });
});

describe('the filter', () => {
  it('restricts nothing that was not chosen', () => {
    viewRun('one');
    expect(filterOf(useResultsView.getState(), { withScore: true })).toEqual({});
    expect(isFiltered(useResultsView.getState())).toBe(false);
  });

  it('can require terminal repeats and hints of another genetic code', () => {
    viewRun('traits');
    changeView({ terminalRepeat: true, otherCode: true });
    expect(filterOf(useResultsView.getState(), { withScore: true })).toEqual({
      terminalRepeat: true,
      otherCode: true,
    });
  });

  it('omits the score for the histogram', () => {
    viewRun('two');
    changeView({ minScore: 0.7, search: '  k141 ', predictions: ['virus'], belowScore: 0.9 });
    const view = useResultsView.getState();
    expect(filterOf(view, { withScore: true })).toEqual({
      minScore: 0.7,
      search: 'k141',
      predictions: ['virus'],
      belowScore: 0.9,
    });
    expect(filterOf(view, { withScore: false })).not.toHaveProperty('minScore');
  });

  it('contains exactly what a preset sets', () => {
    viewRun('presets');
    changeView({ search: 'k141', minScore: 0.3 });
    showPreset('conservative');
    expect(filterOf(useResultsView.getState(), { withScore: true })).toEqual(PRESETS.conservative);
    showPreset('candidates');
    expect(filterOf(useResultsView.getState(), { withScore: true })).toEqual(PRESETS.candidates);
  });

  it('is reset for another run, and kept for the same one', () => {
    viewRun('three');
    changeView({ search: 'x' });
    viewRun('three');
    expect(useResultsView.getState().search).toBe('x');
    viewRun('four');
    expect(useResultsView.getState().search).toBe('');
  });
});
