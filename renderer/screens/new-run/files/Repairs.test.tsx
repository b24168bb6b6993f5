import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { madeInspection } from '../../../testing/memoryEngine/computer.ts';
import { renderWithEngine } from '../../../testing/render.tsx';
import { useNewRun } from '../../../state/newRun/store.ts';
import { Repairs } from './Repairs.tsx';

const REPAIR = 'Use whole header lines as names';

it.each([
  [12, 3, true],
  // The same file twice in a row: whole header lines repeat as often as names.
  [12, 12, false],
  [0, 0, false],
])(
  'of %i repeated names and %i repeated lines, offers whole lines as names: %s',
  async (duplicate_ids, duplicate_headers, isOffered) => {
    const path = '/d/a.fa';
    const inspected = { ...madeInspection(path), duplicate_ids, duplicate_headers };
    useNewRun.setState({ files: [{ path, inspected }] });
    await renderWithEngine(<Repairs />);
    expect(screen.queryByRole('button', { name: REPAIR }) !== null).toBe(isOffered);
  },
);
