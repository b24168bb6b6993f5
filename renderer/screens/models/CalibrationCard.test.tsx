import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { createTexts, TextsContext } from '../../i18n/index.ts';
import { renderWithEngine } from '../../testing/render.tsx';
import { CalibrationCard } from './CalibrationCard.tsx';

const chosen = vi.hoisted(() => ['/data/phages.fa', '/data/mouse.fa']);
vi.mock(import('../../state/pathChooser.ts'), async (original) => ({
  ...(await original()),
  chooseFiles: () => Promise.resolve(chosen.splice(0, 1)),
}));

it('starts a run of two chosen files, and shows earlier results of the model on such files', async () => {
  const user = userEvent.setup();
  await renderWithEngine(
    <TextsContext value={createTexts('en')}>
      <CalibrationCard />
    </TextsContext>,
  );
  await user.selectOptions(await screen.findByLabelText('Model'), '500');
  // 160 of 200 viruses and 40 of 400 others score at least 0.5: the precision is 160 / 200.
  const row = await screen.findByRole('row', { name: /0\.50/ });
  expect(row.textContent).toMatch(/80.*10.*80/);
  const start = screen.getByRole<HTMLButtonElement>('button', { name: 'Start the run' });
  expect(start.disabled).toBe(true);
  await user.click(screen.getByRole('button', { name: 'Choose viruses …' }));
  await user.click(screen.getByRole('button', { name: 'Choose others …' }));
  await waitFor(() => expect(start.disabled).toBe(false));
  await user.click(start);
  await waitFor(() => expect(location.hash).toMatch(/run/));
});
