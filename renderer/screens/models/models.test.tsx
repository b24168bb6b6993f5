import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { takeDropped } from '../../components/files/FileDropZone.tsx';
import { createTexts, TextsContext } from '../../i18n/index.ts';
import { openImport, useWeights } from '../../state/computer/weights.ts';
import { go } from '../../state/navigation.ts';
import { renderWithEngine, showUnanswered } from '../../testing/render.tsx';
import { ModelList } from './ModelList.tsx';

const card = () =>
  renderWithEngine(
    <TextsContext value={createTexts('en')}>
      <ModelList />
    </TextsContext>,
  );

it('downloads a model, shows the time left, and can be paused', async () => {
  const user = userEvent.setup();
  await card();
  await screen.findByText(/7 MB to download/);
  await user.click(screen.getByRole('button', { name: /^Download \(.*: VirNucPro, 300-bp model/ }));
  await screen.findByText(/left/);
  expect(screen.getByRole('button', { name: 'Pause: VirNucPro, 300-bp model' })).toBeTruthy();
  await waitFor(() => expect(useWeights.getState().works).toEqual({}));
});

it('names, before it removes a model, what that frees and what other models keep', async () => {
  const user = userEvent.setup();
  await card();
  await user.click(
    await screen.findByRole('button', { name: 'Remove: VirNucPro, 500-bp model', hidden: true }),
  );
  const dialog = within(await screen.findByRole('dialog'));
  expect(dialog.getByText('This frees 7 MB.')).toBeTruthy();
  expect(dialog.getByText(/Gut phages/)).toBeTruthy();
});

it('imports dropped files under a name, even if a list is never answered again', async () => {
  const user = userEvent.setup();
  await card();
  showUnanswered([]);
  act(() => openImport(['/data/usb/soil.pth']));
  const dialog = within(await screen.findByRole('dialog'));
  dialog.getByText(/soil\.pth/);
  await user.type(dialog.getByLabelText('Chunk length'), '500');
  await user.click(dialog.getByRole('button', { name: 'Import' }));
  await waitFor(() => expect(useWeights.getState().importing).toBeNull());
});

it('shows how many dropped files are still being sent in browser mode, then what they are', async () => {
  const requests: { answer: (path: string) => void }[] = [];
  vi.stubGlobal(
    'XMLHttpRequest',
    class extends EventTarget {
      upload = new EventTarget();
      response: unknown = null;
      open() {}
      send() {
        requests.push({
          answer: (path) => {
            this.response = { path };
            this.dispatchEvent(new Event('load'));
          },
        });
      }
    },
  );
  act(() => go({ screen: 'models' }));
  await card();
  const files = ['esm2.pt', 'head.pth'].map((name) => new File(['x'], name));
  act(() => void takeDropped(files));
  await screen.findByText('Sending 2 files');
  const bar = screen.getByRole('progressbar', { name: 'I have the files' });
  expect(bar.getAttribute('aria-valuenow')).toBe('0');
  act(() => requests[0]?.answer('/data/usb/esm2.pt'));
  await screen.findByText('Sending head.pth');
  expect(bar.getAttribute('aria-valuenow')).toBe('50');
  act(() => requests[1]?.answer('/data/usb/head.pth'));
  await screen.findByRole('dialog');
  expect(useWeights.getState()).toMatchObject({
    importing: ['/data/usb/esm2.pt', '/data/usb/head.pth'],
    upload: null,
  });
  vi.unstubAllGlobals();
});
