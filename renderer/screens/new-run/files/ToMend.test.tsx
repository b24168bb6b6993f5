import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { madeInspection } from '../../../testing/memoryEngine/computer.ts';
import { renderWithEngine } from '../../../testing/render.tsx';
import { useNewRun } from '../../../state/newRun/store.ts';
import { ToMend } from './ToMend.tsx';

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
    const files = [{ path, inspected }];
    useNewRun.setState({ files });
    await renderWithEngine(<ToMend files={files}>{null}</ToMend>);
    expect(screen.queryByRole('button', { name: REPAIR, hidden: true }) !== null).toBe(isOffered);
  },
);
