import { describe, expect, it } from 'vitest';
import { merged, sharesByLength } from './distributions.ts';

describe('the data of the plots', () => {
  it('contain every sequence once', () => {
    expect(merged([1, 2, 3, 4, 5], 2)).toEqual([3, 7, 5]);
  });

  const bins = [
    { from: 0, to: 100, virus: 0, others: 0, not_scored: 0 },
    { from: 100, to: 300, virus: 3, others: 6, not_scored: 3 },
    { from: 300, to: 500, virus: 0, others: 0, not_scored: 0 },
    { from: 500, to: 1000, virus: 5, others: 5, not_scored: 10 },
    { from: 1000, to: null, virus: 1, others: 0, not_scored: 0 },
  ];

  it('give the share of viruses by length; a length without sequences keeps its place between others', () => {
    expect(sharesByLength(bins, 'virus')).toEqual([
      { from: 100, to: 300, counted: 3, of: 9, share: 3 / 9 },
      { from: 300, to: 500, counted: 0, of: 0, share: null },
      { from: 500, to: 1000, counted: 5, of: 10, share: 0.5 },
      { from: 1000, to: null, counted: 1, of: 1, share: 1 },
    ]);
    expect(sharesByLength(bins.slice(0, 1), 'virus')).toEqual([]);
  });

  it('give the share without a score by length, among all that did not fail', () => {
    expect(sharesByLength(bins, 'not_scored').map(({ counted, of }) => [counted, of])).toEqual([
      [3, 12],
      [0, 0],
      [10, 20],
      [0, 1],
    ]);
  });
});
