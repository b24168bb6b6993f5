import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { createTexts, TextsContext } from '../../i18n/index.ts';
import { usePathChooser } from '../../state/pathChooser.ts';
import { renderWithEngine } from '../../testing/render.tsx';
import { Calibrations } from './Calibrations.tsx';
import { ComputerCheckScreen } from './ComputerCheckScreen.tsx';

/** What the dialog that chooses files would answer. */
async function take(path: string): Promise<void> {
  await waitFor(() => expect(usePathChooser.getState().request).not.toBeNull());
  act(() => usePathChooser.getState().request?.resolve([path]));
}

it('starts a run of two chosen files, and shows earlier results of the model on such files', async () => {
  const user = userEvent.setup();
  await renderWithEngine(
    <TextsContext value={createTexts('en')}>
      <Calibrations />
    </TextsContext>,
  );
  await user.click(await screen.findByRole('button', { name: 'Your own sequences with a known answer' }));
  await user.selectOptions(await screen.findByLabelText('Model'), '500');
  // 160 of 200 viruses and 40 of 400 others score at least 0.5: the precision is 160 / 200.
  const row = await screen.findByRole('row', { name: /0\.50/ });
  expect(row.textContent).toMatch(/80.*10.*80/);
  const start = screen.getByRole<HTMLButtonElement>('button', { name: 'Start the run' });
  expect(start.disabled).toBe(true);
  await user.click(screen.getByRole('button', { name: 'Choose viruses …' }));
  await take('/data/phages.fa');
  await user.click(screen.getByRole('button', { name: 'Choose others …' }));
  await take('/data/mouse.fa');
  await waitFor(() => expect(start.disabled).toBe(false));
  await user.click(start);
  await waitFor(() => expect(location.hash).toMatch(/run/));
});

it('reports with figures whether a model tells viruses from hosts, and repeats the test', async () => {
  const user = userEvent.setup();
  await renderWithEngine(
    <TextsContext value={createTexts('en')}>
      <ComputerCheckScreen />
    </TextsContext>,
  );
  const tile = within(await screen.findByRole('listitem', { name: 'VirNucPro, 500-bp model' }));
  const check = await tile.findByRole('button', { name: /^Check the model/ });
  await user.hover(check);
  await screen.findByText(/Scores 260 known sequences/);
  tile.getByText(/Never checked on this computer/, { selector: '[aria-label^="Check the model"] *' });
  await user.click(check);
  await tile.findByText(/97 of 100 viral and 16 of 100 host sequences are called virus\./);
  await tile.findByText(/20 of 20 fragments of crAssphage/);
  tile.getByText(/NVIDIA H200, BF16/);
});
