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

describe('the scores brushed over', () => {
  it('are no filter where they are all, and else begin and end at bins', () => {
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
  it('asks for nothing that was not chosen', () => {
    viewRun('one');
    expect(filterOf(useResultsView.getState(), { withScore: true })).toEqual({});
    expect(isFiltered(useResultsView.getState())).toBe(false);
  });

  it('asks for terminal repeats and hints to another genetic code', () => {
    viewRun('traits');
    changeView({ terminalRepeat: true, otherCode: true });
    expect(filterOf(useResultsView.getState(), { withScore: true })).toEqual({
      terminalRepeat: true,
      otherCode: true,
    });
  });

  it('leaves the score out for the histogram', () => {
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

  it('is all that a preset says, and nothing else', () => {
    viewRun('presets');
    changeView({ search: 'k141', minScore: 0.3 });
    showPreset('conservative');
    expect(filterOf(useResultsView.getState(), { withScore: true })).toEqual(PRESETS.conservative);
    showPreset('candidates');
    expect(filterOf(useResultsView.getState(), { withScore: true })).toEqual(PRESETS.candidates);
  });

  it('starts afresh with another run, and stays with the same', () => {
    viewRun('three');
    changeView({ search: 'x' });
    viewRun('three');
    expect(useResultsView.getState().search).toBe('x');
    viewRun('four');
    expect(useResultsView.getState().search).toBe('');
  });
});
