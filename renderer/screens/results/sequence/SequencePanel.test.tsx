import { ModalsProvider } from '@mantine/modals';
import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { changeView, viewRun } from '../../../state/results/resultsView.ts';
import { useSettings } from '../../../state/settings.ts';
import { madeRunNamed } from '../../../testing/memoryEngine/runs.ts';
import { renderWithEngine } from '../../../testing/render.tsx';
import { SequencePanel } from './SequencePanel.tsx';

it('shows the letters of a sequence, and asks before it gives them to BLAST', async () => {
  // Sets browser mode, whatever an earlier test has set.
  useSettings.setState({ settings: null, info: null });
  const user = userEvent.setup();
  const run = madeRunNamed('done');
  await renderWithEngine(
    <ModalsProvider>
      <SequencePanel run={run} />
    </ModalsProvider>,
    { sequences: 400 },
  );
  const open = (openRow: number) => act(() => changeView({ openRow }));
  act(() => viewRun(run.runId));
  open(199);
  const panel = within(await screen.findByRole('region', { name: 'Sequence' }));
  const name = () => panel.queryAllByRole('heading', { level: 2 })[0]?.textContent;
  await waitFor(() => expect(name()).toBeDefined());

  await user.click(panel.getByText('Show letters and protein'));
  const nucleotides = await panel.findByRole('region', { name: 'Nucleotides' });
  expect(nucleotides.textContent).toMatch(/^[ACGT]{100,}$/);
  // The letters of the next sequence are shown too, without another click.
  open(200);
  await panel.findByRole('region', { name: 'Nucleotides' });

  const opened = vi.spyOn(window, 'open').mockReturnValue(null);
  const [blast] = panel.getAllByText('Search with BLAST …');
  if (blast) await user.click(blast);
  await screen.findByText('Send this sequence to NCBI?');
  expect(opened).not.toHaveBeenCalled();
  await user.click(screen.getByText('Open BLAST'));
  await waitFor(() => expect(opened).toHaveBeenCalled());
  const address = new URL(String(opened.mock.calls[0]?.[0]));
  expect(address.host).toBe('blast.ncbi.nlm.nih.gov');
  expect(address.searchParams.get('QUERY')).toMatch(/^[A-Z]{50,}$/);

  // Another tool's table names this one: the panel shows every column, the table beside it only the first.
  open(232);
  await panel.findByText('geNomad: taxonomy');
  panel.getByText('geNomad: virus_score');
});
