import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { madeRuns } from '../../testing/memoryEngine/runs.ts';
import { renderWithEngine } from '../../testing/render.tsx';
import { RunMenu } from './RunMenu.tsx';

const [run] = madeRuns(Date.now()).filter((candidate) => candidate.state.phase === 'done');

it('is made when it is asked for by the keyboard, and gives the focus back, also after a dialog', async () => {
  if (!run) throw new Error('The invented runs hold none that is done');
  const user = userEvent.setup();
  await renderWithEngine(<RunMenu run={run} />);
  const opener = () => screen.getByRole('button', { name: `Actions for ${run.name}` });
  expect(screen.queryByRole('menu', { hidden: true })).toBeNull();

  opener().focus();
  await user.keyboard('{Enter}');
  await screen.findByRole('menu', { hidden: true });
  expect(opener().getAttribute('aria-expanded')).toBe('true');
  await user.keyboard('{Escape}');
  await waitFor(() => expect(document.activeElement).toBe(opener()));

  await user.keyboard('{Enter}');
  await user.click(await screen.findByRole('menuitem', { name: 'Rename', hidden: true }));
  await screen.findByRole('dialog');
  await user.keyboard('{Escape}');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await waitFor(() => expect(document.activeElement).toBe(opener()));
});

it('verifies a run, names what is damaged, and offers to repair it', async () => {
  if (!run) throw new Error('The invented runs hold none that is done');
  const user = userEvent.setup();
  await renderWithEngine(<RunMenu run={run} />);
  await user.click(screen.getByRole('button', { name: `Actions for ${run.name}` }));
  await user.click(await screen.findByRole('menuitem', { name: 'Verify …', hidden: true }));
  await screen.findByText('is damaged or has been changed', { exact: false });
  expect(screen.getByText('chunks.tsv', { exact: false })).toBeTruthy();
  expect(screen.queryByText('sequences.tsv', { exact: false })).toBeNull();
  await user.click(screen.getByRole('button', { name: 'Repair' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});
