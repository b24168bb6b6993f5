import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { go, useNavigation, type Route } from '../../state/navigation.ts';
import { openRunDialog, useRunDialog } from '../../state/runs/runDialog.ts';
import { RUN_IDS } from '../../testing/memoryEngine/runs.ts';
import { renderWithEngine } from '../../testing/render.tsx';
import { Section } from '../Card.tsx';
import { Dialog } from '../Dialog.tsx';
import { Page } from '../Page.tsx';

const broken = vi.hoisted(() => ({ page: false, dialog: false }));

// Every screen is a page, so that each can be made to fail.
vi.mock(import('../Page.tsx'), async (original) => {
  const { Page: Original } = await original();
  return {
    Page: (props) => {
      if (broken.page) throw new Error('broken on purpose');
      return <Original {...props} />;
    },
  };
});

vi.mock(import('../../screens/history/DeleteDialog.tsx'), async (original) => {
  const { DeleteDialog: Original } = await original();
  return {
    DeleteDialog: (props) => {
      if (broken.dialog) throw new Error('broken on purpose');
      return <Original {...props} />;
    },
  };
});

beforeEach(() => {
  // React reports what was caught.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  act(() => go({ screen: 'guide', page: 'methods' }));
});
afterEach(() => {
  Object.assign(broken, { page: false, dialog: false });
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** A screen that is missing here does not compile. */
const ROUTES: { readonly [Screen in Route['screen']]: Route & { readonly screen: Screen } } = {
  start: { screen: 'start' },
  'new-run': { screen: 'new-run' },
  runs: { screen: 'runs' },
  run: { screen: 'run', runId: RUN_IDS.done, tab: 'progress' },
  models: { screen: 'models' },
  compare: { screen: 'compare', runId: RUN_IDS.done, otherRunId: null },
  computer: { screen: 'computer' },
  computers: { screen: 'computers' },
  settings: { screen: 'settings' },
  help: { screen: 'help' },
  guide: { screen: 'guide', page: 'limits' },
};

const FAULT = 'This part of the window cannot be shown.';
const headings = () => screen.queryAllByRole('heading', { level: 1 });

it.each(Object.values(ROUTES))('leaves the navigation if the screen $screen fails', async (route) => {
  const user = userEvent.setup();
  await renderWithEngine(<App />);
  await waitFor(() => expect(headings()).toHaveLength(1));
  broken.page = true;
  act(() => go(route));
  await screen.findByText(FAULT);
  expect(headings()).toHaveLength(0);
  // Going elsewhere is enough to see something again.
  const elsewhere = route.screen === 'settings' ? 'Help' : 'Settings';
  broken.page = false;
  await user.click(within(screen.getByRole('navigation')).getByRole('link', { name: elsewhere }));
  await screen.findByRole('heading', { level: 1, name: elsewhere });
  expect(screen.queryByText(FAULT)).toBeNull();
  // So is trying again.
  broken.page = true;
  act(() => go(route));
  await screen.findByText(FAULT);
  broken.page = false;
  await user.click(screen.getByRole('button', { name: 'Try again' }));
  await waitFor(() => expect(headings()).toHaveLength(1));
  expect(screen.queryByText(FAULT)).toBeNull();
});

function Broken(): never {
  throw new Error('broken on purpose');
}

it('leaves what is beside a panel that fails, and the dialog around it', async () => {
  const user = userEvent.setup();
  vi.stubGlobal('isSecureContext', true);
  const onClose = vi.fn();
  await renderWithEngine(
    <Page title="Figures">
      <Broken />
      <Section title="Scores" aside={<Broken />}>
        <Broken />
        <p>The neighbour</p>
      </Section>
      <Dialog opened onClose={onClose} title="Question" withCloseButton={false}>
        <Broken />
        <button type="button" onClick={onClose}>
          Close it
        </button>
      </Dialog>
    </Page>,
  );
  screen.getByRole('heading', { name: 'Figures', hidden: true });
  screen.getByRole('heading', { name: 'Scores', hidden: true });
  screen.getByText('The neighbour');
  expect(screen.getAllByText(FAULT)).toHaveLength(4);
  const dialog = within(await screen.findByRole('dialog', { name: 'Question' }));
  await user.click(dialog.getByRole('button', { name: 'Copy details' }));
  await waitFor(async () =>
    expect(await navigator.clipboard.readText()).toMatch(/broken on purpose[^]*at Broken/),
  );
  await user.click(dialog.getByRole('button', { name: 'Close it' }));
  expect(onClose).toHaveBeenCalledOnce();
});

it('says so over the screen if a dialog fails that any screen can open, and opens it again later', async () => {
  const user = userEvent.setup();
  await renderWithEngine(<App />);
  act(() => go(ROUTES.runs));
  await screen.findByRole('heading', { level: 1, name: 'Runs' });
  broken.dialog = true;
  act(() => openRunDialog(RUN_IDS.done, 'delete'));
  await screen.findByText(FAULT);
  await user.click(within(screen.getByRole('alert')).getByRole('button', { name: 'Close' }));
  expect(screen.queryByText(FAULT)).toBeNull();
  broken.dialog = false;
  act(() => openRunDialog(RUN_IDS.done, 'delete'));
  await screen.findByRole('dialog');
  act(() => useRunDialog.setState({ open: null }));
});

it('offers to reload the window if all of it fails', async () => {
  await renderWithEngine(<App />);
  await waitFor(() => expect(headings()).toHaveLength(1));
  const { route } = useNavigation.getState();
  act(() => useNavigation.setState({ route: undefined as never }));
  screen.getByRole('button', { name: 'Reload the window' });
  screen.getByRole('button', { name: 'Copy details' });
  act(() => useNavigation.setState({ route }));
});
