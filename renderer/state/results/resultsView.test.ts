import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  changeView,
  countFrom,
  filterOf,
  isFiltered,
  PRESETS,
  SCORE_BINS,
  showPreset,
  useResultsView,
  viewRun,
} from './resultsView.ts';

describe('the score slider', () => {
  it('counts from the histogram exactly what the filter lets through', () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ min: 0, max: 1, noNaN: true }), { maxLength: 200 }),
        fc.integer({ min: 0, max: SCORE_BINS }),
        (scores, step) => {
          const bins = Array.from({ length: SCORE_BINS }, () => 0);
          for (const score of scores) {
            const bin = Math.min(SCORE_BINS - 1, Math.floor(score * SCORE_BINS));
            bins[bin] = (bins[bin] ?? 0) + 1;
          }
          const minScore = Math.min(step, SCORE_BINS - 1) / SCORE_BINS;
          expect(countFrom(bins, minScore)).toBe(scores.filter((score) => score >= minScore).length);
        },
      ),
    );
  });
});

describe('the filter', () => {
  it('asks for nothing that was not chosen', () => {
    viewRun('one');
    expect(filterOf(useResultsView.getState(), { withScore: true })).toEqual({});
    expect(isFiltered(useResultsView.getState())).toBe(false);
  });

  it('leaves the score out for the histogram', () => {
    viewRun('two');
    changeView({ minScore: 0.7, search: '  k141 ', predictions: ['virus'], input: 0 });
    const view = useResultsView.getState();
    expect(filterOf(view, { withScore: true })).toEqual({
      minScore: 0.7,
      search: 'k141',
      predictions: ['virus'],
      input: 0,
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
