import { ModalsProvider } from '@mantine/modals';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { queries } from '../../state/connection.ts';
import { queryClient } from '../../state/queryClient.ts';
import { madeRunNamed } from '../../testing/memoryEngine/runs.ts';
import { renderWithEngine, showUnanswered } from '../../testing/render.tsx';
import { FailuresCard } from './FailuresCard.tsx';

it('frees its buttons once parts are skipped, even if a list of the run is never answered', async () => {
  const user = userEvent.setup();
  await renderWithEngine(
    <ModalsProvider>
      <FailuresCard run={madeRunNamed('withFailures')} />
    </ModalsProvider>,
  );
  showUnanswered(queries.runs.key());
  const [first] = await screen.findAllByRole<HTMLButtonElement>('button', { name: 'Skip', hidden: true });
  if (!first) throw new Error('No part can be skipped');
  await user.click(first);
  const asked = await screen.findByRole('dialog');
  await user.click(within(asked).getByRole('button', { name: 'Skip' }));
  await waitFor(() => expect(queryClient.isMutating()).toBe(0));
  await waitFor(() => expect(first.disabled).toBe(false));
});
