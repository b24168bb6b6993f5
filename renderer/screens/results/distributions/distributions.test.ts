import { describe, expect, it } from 'vitest';
import { scoresByCall, sharesByLength, type LengthScores } from '../../../../electron/contract/index.ts';
import { merged } from './distributions.ts';

/** Five lengths, one of them without sequences; four score bins. */
const FOUND: LengthScores = {
  edges: [0, 300, 500, 1000],
  virus: [
    [0, 0, 1, 2],
    [0, 0, 0, 0],
    [0, 1, 0, 4],
    [0, 0, 0, 1],
  ],
  others: [
    [5, 1, 0, 0],
    [0, 0, 0, 0],
    [2, 0, 3, 0],
    [0, 0, 0, 0],
  ],
  notScored: [3, 0, 10, 0],
};

describe('the data of the plots', () => {
  it('contain every sequence once, by call', () => {
    expect(scoresByCall(FOUND)).toEqual({ virus: [0, 1, 1, 7], others: [7, 1, 3, 0] });
    expect(merged([1, 2, 3, 4, 5], 2)).toEqual([3, 7, 5]);
  });

  it('give the share of viruses by length; a length without sequences keeps its place between others', () => {
    expect(sharesByLength(FOUND, 'virus')).toEqual([
      { from: 0, to: 300, counted: 3, of: 9, share: 3 / 9 },
      { from: 300, to: 500, counted: 0, of: 0, share: null },
      { from: 500, to: 1000, counted: 5, of: 10, share: 0.5 },
      { from: 1000, to: null, counted: 1, of: 1, share: 1 },
    ]);
  });

  it('give the share without a score by length, among all that did not fail', () => {
    expect(sharesByLength(FOUND, 'notScored').map(({ counted, of }) => [counted, of])).toEqual([
      [3, 12],
      [0, 0],
      [10, 20],
      [0, 1],
    ]);
  });
});
