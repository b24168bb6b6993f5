import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { queries } from '../../../state/connection.ts';
import { useNavigation } from '../../../state/navigation.ts';
import { queryClient } from '../../../state/queryClient.ts';
import { renderWithEngine } from '../../../testing/render.tsx';
import { useNewRunForm } from '../useNewRunForm.ts';
import { ComputeSettings } from './ComputeSettings.tsx';

const Panel = () => <ComputeSettings form={useNewRunForm()} />;

it('offers to repair Python only where the package that finds GPUs is missing', async () => {
  const user = userEvent.setup();
  await renderWithEngine(<Panel />, { runs: 'none', devices: 0 });
  await user.click(screen.getByRole('button', { name: /^Change/ }));
  await screen.findByText('No GPU found.');
  expect(screen.queryByRole('button', { name: 'Repair' })).toBeNull();
  act(() => {
    queryClient.setQueryData(
      queries.computer.devices.queryKey(),
      (probe) => probe && { ...probe, no_gpu_code: 'nvml_missing' as const },
    );
  });
  await user.click(await screen.findByRole('button', { name: 'Repair' }));
  await waitFor(() => expect(useNavigation.getState().route).toEqual({ screen: 'start' }));
});
