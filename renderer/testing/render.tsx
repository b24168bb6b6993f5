import { MantineProvider } from '@mantine/core';
import { QueryClientProvider, type QueryKey, QueryObserver } from '@tanstack/react-query';
import { render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { onTestFinished } from 'vitest';
import { connectionStore, startConnection } from '../state/connection.ts';
import { queryClient } from '../state/queryClient.ts';
import { theme } from '../styles/theme.ts';
import { createMemoryEngine, type MemoryEngineOptions } from './memoryEngine/index.ts';
import { memoryTransport } from './memoryLink.ts';

/** Renders a part of the window with a memory engine behind it. */
export async function renderWithEngine(content: ReactNode, options: MemoryEngineOptions = {}) {
  queryClient.clear();
  sessionStorage.clear();
  const engine = createMemoryEngine(options);
  onTestFinished(engine.close);
  onTestFinished(startConnection(memoryTransport(engine)));
  await new Promise<void>((resolve) => {
    const check = () => {
      if (connectionStore.getState().status === 'connected') resolve();
    };
    check();
    connectionStore.subscribe(check);
  });
  const view = render(
    <MantineProvider theme={theme} env="test">
      <QueryClientProvider client={queryClient}>{content}</QueryClientProvider>
    </MantineProvider>,
  );
  return { ...view, engine };
}

/** Shows a list whose answers never come, until the test ends: no button may wait for it. */
export function showUnanswered(list: QueryKey): void {
  const silent = new QueryObserver(queryClient, {
    queryKey: [...list, 'unanswered'],
    queryFn: () => Promise.withResolvers<never>().promise,
  });
  onTestFinished(silent.subscribe(() => undefined));
}
