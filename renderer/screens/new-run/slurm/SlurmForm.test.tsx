import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, expect, it, vi } from 'vitest';
import { createTexts, TextsContext } from '../../../i18n/index.ts';
import { useSlurm } from '../../../state/newRun/slurm.ts';
import { renderWithEngine } from '../../../testing/render.tsx';
import { SlurmForm } from './SlurmForm.tsx';

afterEach(() => vi.unstubAllGlobals());

function Form() {
  const [settings, setSettings] = useState(useSlurm.getInitialState);
  return <SlurmForm settings={settings} onChange={setSettings} />;
}

it('shows the script made from its fields, names the problem with a field, and copies the script', async () => {
  // A browser has no clipboard outside a secure context.
  vi.stubGlobal('isSecureContext', true);
  const user = userEvent.setup();
  await renderWithEngine(
    <TextsContext value={createTexts('en')}>
      <Form />
    </TextsContext>,
  );
  await user.type(screen.getByLabelText('Partition'), 'gpu');
  await user.type(screen.getByLabelText('Kind of GPU'), 'a100');
  await user.click(screen.getByRole('button', { name: 'Batch script' }));
  const script = () => screen.queryByRole('region', { name: 'Batch script', hidden: true })?.textContent;
  expect(script()).toContain('#SBATCH --partition=gpu\n');
  expect(script()).toContain('#SBATCH --gres=gpu:a100:1\n');

  await user.type(screen.getByLabelText('Account'), 'my lab');
  expect(screen.getByText('Letters, digits and . _ + @ - only.')).toBeTruthy();
  expect(script()).toBeUndefined();
  expect(screen.getByRole('button', { name: 'Copy as script', hidden: true })).toHaveProperty(
    'disabled',
    true,
  );

  await user.clear(screen.getByLabelText('Account'));
  await user.click(screen.getByRole('button', { name: 'Copy as script', hidden: true }));
  await waitFor(async () => expect(await navigator.clipboard.readText()).toBe(script()));
});
