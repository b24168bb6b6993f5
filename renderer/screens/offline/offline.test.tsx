import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { App } from '../../App.tsx';
import { takeDropped } from '../../components/files/FileDropZone.tsx';
import { useEnvironment } from '../../state/computer/environment.ts';
import { go, useNavigation } from '../../state/navigation.ts';
import { startOver, useNewRun } from '../../state/newRun/store.ts';
import { closeOffline, forgetPacking, takesOfflineFolder } from '../../state/computer/offline.ts';
import { usePathChooser } from '../../state/pathChooser.ts';
import { changeSettings, useSettings } from '../../state/settings.ts';
import { renderWithEngine } from '../../testing/render.tsx';

beforeEach(() => {
  act(() => {
    startOver();
    closeOffline();
    forgetPacking();
    go({ screen: 'start' });
    useSettings.setState({ settings: null, info: null });
  });
});

/** Answers the file chooser of browser mode. */
async function choose(path: string): Promise<void> {
  await waitFor(() => expect(usePathChooser.getState().request).not.toBeNull());
  act(() => usePathChooser.getState().request?.resolve([path]));
}

describe('a folder for setup without a network', () => {
  it('is chosen in the first steps, shown with its contents, and sets the computer up', async () => {
    const user = userEvent.setup();
    await renderWithEngine(<App />, { runs: 'none', fresh: true });
    await user.click(await screen.findByRole('button', { name: 'Set up from an offline folder …' }));
    await choose('/media/stick/offline');
    await screen.findByText(/It holds 9\.14 GB: Python 3\.12, PyTorch \(cu130\) and its packages/);
    const dialog = screen.getByRole('dialog', { name: 'Set up from this folder?' });
    await user.click(within(dialog).getByRole('button', { name: 'Set up' }));
    await waitFor(() => expect(useEnvironment.getState().status?.state).toBe('setting_up'));
  });

  it('is refused with a reason if it is for another computer, and another one can be chosen', async () => {
    const user = userEvent.setup();
    await renderWithEngine(<App />, { runs: 'none', fresh: true });
    await user.click(await screen.findByRole('button', { name: 'Set up from an offline folder …' }));
    await choose('/media/stick/offline-windows');
    await screen.findByText('This folder is for win32-x64; this computer is linux-x64.');
    await user.click(screen.getByRole('button', { name: 'Choose another folder' }));
    await choose('/media/stick');
    await screen.findByText(/Nothing in this folder says that it was packed/);
  });

  it('is recognised by its contents when it is dropped, and is not uploaded by a browser', async () => {
    await renderWithEngine(<App />, { runs: 'none' });
    await act(() => takeDropped([new File(['{}'], 'virnucpro-offline.json'), new File([''], 'torch.whl')]));
    await screen.findByText(/A browser does not say where a dropped folder lies/);
    expect(useNewRun.getState().uploads).toEqual([]);
    expect(useNavigation.getState().route).toEqual({ screen: 'start' });
    // Sets desktop mode, in which paths are known.
    expect(await takesOfflineFolder(['/data/contigs'])).toBe(false);
    expect(await takesOfflineFolder(['/media/offline', '/data/contigs.fa'])).toBe(false);
    await act(async () => expect(await takesOfflineFolder(['/media/offline'])).toBe(true));
    await screen.findByText('/media/offline');
  });

  it('is packed for the chosen graphics card, with sizes and progress, and can be cancelled', async () => {
    const user = userEvent.setup();
    await renderWithEngine(<App />, { runs: 'none' });
    act(() => go({ screen: 'computer' }));
    await user.click(await screen.findByRole('button', { name: 'Without a network' }));
    await user.click(await screen.findByRole('button', { name: 'Make an offline folder …' }));
    const form = await screen.findByRole('dialog', { name: 'Make an offline folder' });
    await within(form).findByText(/^2\.78 GB to download, .* of models to copy$/);
    const pack = within(form).getByRole('button', { name: 'Make the folder' });
    expect(pack).toHaveProperty('disabled', true);
    await user.type(within(form).getByLabelText('Folder to write to'), '/media/stick');
    await user.click(pack);
    const progress = await screen.findByRole('region', { name: 'Making /media/stick' });
    await within(progress).findAllByText('Getting PyTorch and the packages for computing');
    await user.click(within(progress).getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(screen.queryByRole('region', { name: 'Making /media/stick' })).toBeNull());
  });
});

describe('the data folder', () => {
  it('reports that it moves at the next start, and offers to restart', async () => {
    await renderWithEngine(<App />, { runs: 'none' });
    act(() => go({ screen: 'settings' }));
    await screen.findByLabelText('Mirror of the model weights');
    expect(screen.queryByText(/From the next start on/)).toBeNull();
    await act(() => changeSettings({ dataFolder: '/mnt/large' }));
    await screen.findByText('From the next start on, data are kept in /mnt/large.');
    screen.getByText(/End the program where it runs/);
    expect(screen.queryByRole('button', { name: 'Restart now' })).toBeNull();
    const { info } = useSettings.getState();
    act(() => useSettings.setState({ info: info && { ...info, shell: 'electron' } }));
    await screen.findByRole('button', { name: 'Restart now' });
  });
});
