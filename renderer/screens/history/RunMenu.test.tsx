import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { madeRunNamed } from '../../testing/memoryEngine/runs.ts';
import { engine } from '../../state/connection.ts';
import { renderWithEngine } from '../../testing/render.tsx';
import { RunMenu } from './RunMenu.tsx';

const run = madeRunNamed('done');

it('is rendered when the keyboard opens it, and returns the focus, even after a dialog', async () => {
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
  await user.click(await screen.findByRole('menuitem', { name: /^Name, tags/, hidden: true }));
  await screen.findByRole('dialog');
  await user.keyboard('{Escape}');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await waitFor(() => expect(document.activeElement).toBe(opener()));
});

it('verifies a run, names damaged files, and offers to repair it', async () => {
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

it('resumes a resting run on the ticked devices', async () => {
  const resting = madeRunNamed('halted');
  const user = userEvent.setup();
  await renderWithEngine(<RunMenu run={resting} />);
  await user.click(screen.getByRole('button', { name: `Actions for ${resting.name}` }));
  await user.click(
    await screen.findByRole('menuitem', { name: 'Continue on other devices …', hidden: true }),
  );
  const [first, ...others] = await screen.findAllByRole('checkbox', { name: /^GPU \d/ });
  for (const gpu of others) if ((gpu as HTMLInputElement).checked) await user.click(gpu);
  expect(first).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Continue' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  for await (const runs of await engine.runs.watchAll()) {
    const continued = runs.find(({ runId }) => runId === resting.runId);
    expect(continued?.state.phase).toBe('running');
    expect(continued?.request.devices).toMatch(/^GPU-[0-9a-f-]+$/);
    break;
  }
});
