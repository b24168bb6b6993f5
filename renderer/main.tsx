import '@fontsource-variable/inter/wght.css';
import '@mantine/core/styles.css';
import '@mantine/dropzone/styles.css';
import '@mantine/notifications/styles.css';
import './styles/global.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App.tsx';
import { defaultTransport, startConnection, startHomeConnection } from './state/connection.ts';

const root = document.getElementById('root');
if (!root) throw new Error('The page has no root element');
startHomeConnection();
startConnection(defaultTransport());
createRoot(root, {
  // What a boundary caught is an error of the page like any other: tests of the window fail by it, and the browser's tools show it.
  onCaughtError: (error) => reportError(error),
}).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
