import { DynamicLink } from '@orpc/client';
import { createTanstackQueryUtils } from '@orpc/tanstack-query';
import { onlineManager } from '@tanstack/react-query';
import { createStore, useStore } from 'zustand';
import { browserTransport } from '../api/browserTransport.ts';
import { ConnectionLost } from '../api/callError.ts';
import { keepConnected, type Connection, type ConnectionState } from '../api/connection.ts';
import { electronTransport } from '../api/electronTransport.ts';
import { createEngineClient } from '../api/engineClient.ts';
import type { Transport } from '../api/transport.ts';

export const connectionStore = createStore<ConnectionState>(() => ({ status: 'connecting' }));

const HOME_LOOK_MS = 100;

let connection: Connection | null = null;

/**
 * Id of the other computer that this page shows; null for the one it runs on. It is part of the address: choosing another computer
 * loads another page, so that no data of one computer can be mistaken for another's.
 */
export const chosenComputer: string | null = window.virnucpro
  ? new URLSearchParams(location.search).get('computer')
  : null;

export function defaultTransport(): Transport {
  const bridge = window.virnucpro;
  if (!bridge) return browserTransport();
  if (chosenComputer === null) return electronTransport(bridge);
  return electronTransport(bridge, window, chosenComputer, () => chosenIsConnected(chosenComputer));
}

/** Connects to this program's own engine too, which has the dialogs, the clipboard and the link to the other computer. */
export function startHomeConnection(): void {
  if (chosenComputer === null || !window.virnucpro) return;
  keepConnected(electronTransport(window.virnucpro), (state) => homeStore.setState(state, true));
}

/** Connects to the engine and closes an earlier connection. */
export function startConnection(transport: Transport): () => void {
  connection?.close();
  connection = keepConnected(transport, (state) => connectionStore.setState(state, true));
  const started = connection;
  return () => started.close();
}

export const retryConnection = () => connection?.retryNow();

/** Calls go over the current link, and fail with `ConnectionLost` if there is none. */
export const engine = createEngineClient(
  new DynamicLink(() => {
    const state = connectionStore.getState();
    if (state.status !== 'connected') throw new ConnectionLost();
    return state.calls;
  }),
);

const homeStore = createStore<ConnectionState>(() => ({ status: 'connecting' }));

/** The engine of the program that this window belongs to, whichever computer the window shows. */
export const home =
  chosenComputer === null
    ? engine
    : createEngineClient(
        new DynamicLink(() => {
          const state = homeStore.getState();
          if (state.status !== 'connected') throw new ConnectionLost();
          return state.calls;
        }),
      );

/** The state of the link to `home`. */
export const homeConnection = chosenComputer === null ? connectionStore : homeStore;

async function chosenIsConnected(id: string): Promise<void> {
  for (;;) {
    if (homeStore.getState().status === 'connected') {
      const stop = new AbortController();
      try {
        for await (const computers of await home.computers.list(undefined, { signal: stop.signal })) {
          if (computers.find((one) => one.id === id)?.link.state === 'connected') return;
        }
      } finally {
        stop.abort();
      }
    }
    await new Promise((resolve) => setTimeout(resolve, HOME_LOOK_MS));
  }
}

/** Options of TanStack Query for every call of the contract. */
export const queries = createTanstackQueryUtils(engine);

// For queries, "online" means the link to the engine and not the network: they wait while it is down, and are repeated
// as soon as it is back.
onlineManager.setEventListener((setOnline) => {
  const follow = ({ status }: ConnectionState) => setOnline(status === 'connected');
  follow(connectionStore.getState());
  return connectionStore.subscribe(follow);
});

export const useConnectionStatus = () => useStore(connectionStore, (state) => state.status);
