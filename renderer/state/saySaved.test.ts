import { screen } from '@testing-library/react';
import { Notifications, notifications } from '@mantine/notifications';
import { createElement } from 'react';
import { afterEach, expect, it } from 'vitest';
import { createTexts } from '../i18n/index.ts';
import { renderWithEngine } from '../testing/render.tsx';
import { engine } from './connection.ts';
import { saySaved } from './saySaved.ts';
import { useSettings } from './settings.ts';

afterEach(() => {
  notifications.clean();
  useSettings.setState({ info: null });
});

it('names a saved file, and leads to it in the desktop app', async () => {
  await renderWithEngine(createElement(Notifications));
  const texts = createTexts('en');
  const info = await engine.computer.info();
  notifications.clean();
  useSettings.setState({ info: { ...info, shell: 'browser' } });
  saySaved({ path: '/home/anna/hits.xlsx', bytes: 12_000 }, texts);
  await screen.findByText(/hits\.xlsx \(12/);
  expect(screen.queryByRole('button', { name: 'Open' })).toBeNull();

  useSettings.setState({ info: { ...info, shell: 'electron' } });
  saySaved({ path: '/home/anna/hits.csv', bytes: 12_000 }, texts);
  await screen.findByRole('button', { name: 'Show in file manager' });
  await screen.findByRole('button', { name: 'Open' });
});
