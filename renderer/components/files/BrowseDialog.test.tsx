import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import { expect, it } from 'vitest';
import { usePathChooser } from '../../state/pathChooser.ts';
import { renderWithEngine } from '../../testing/render.tsx';
import { BrowseDialog } from './BrowseDialog.tsx';

it('chooses the folder opened last, never the previous one, whose contents are still shown', async () => {
  const chosen: string[][] = [];
  await renderWithEngine(<BrowseDialog />);
  act(() => {
    usePathChooser.setState({
      request: {
        choice: { kind: 'folder', purpose: 'inputs' },
        resolve: (paths) => chosen.push(paths),
      },
    });
  });
  const [folder] = await screen.findAllByRole('button', { name: /soil/ });
  const take = screen.getByRole('button', { name: 'Take this folder' });
  await waitFor(() => expect(take).toHaveProperty('disabled', false));
  if (folder) fireEvent.click(folder);
  // The contents of the new folder have not loaded yet.
  fireEvent.click(take);
  expect(chosen).toEqual([]);
  await waitFor(() => expect(take).toHaveProperty('disabled', false));
  fireEvent.click(take);
  expect(chosen).toEqual([['/data/soil-2026']]);
  act(() => usePathChooser.setState({ request: null }));
  localStorage.clear();
});
