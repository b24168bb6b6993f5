import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { renderWithEngine } from '../testing/render.tsx';
import { GoalField } from './GoalField.tsx';

it.each([
  [null, 299, false],
  [null, 300, true],
  [null, null, true],
  // A goal that a run already has can be taken back.
  [{ kind: 'half_width', share: 0.01 }, 10, true],
] as const)('with the goal %j, a run of %j seconds can stop early: %s', async (goal, seconds, isOffered) => {
  await renderWithEngine(<GoalField goal={goal} onChange={() => undefined} isSample seconds={seconds} />);
  expect(screen.queryAllByRole('combobox')).toHaveLength(Number(isOffered));
});
