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

let connection: Connection | null = null;

export function defaultTransport(): Transport {
  return window.virnucpro ? electronTransport(window.virnucpro) : browserTransport();
}

/** Starts talking to the engine; ends an earlier connection. */
export function startConnection(transport: Transport): () => void {
  connection?.close();
  connection = keepConnected(transport, (state) => connectionStore.setState(state, true));
  const started = connection;
  return () => started.close();
}

export const retryConnection = () => connection?.retryNow();

/** Calls go over the present link, and fail with `ConnectionLost` where there is none. */
export const engine = createEngineClient(
  new DynamicLink(() => {
    const state = connectionStore.getState();
    if (state.status !== 'connected') throw new ConnectionLost();
    return state.calls;
  }),
);

/** Options of TanStack Query for every call of the contract. */
export const queries = createTanstackQueryUtils(engine);

// For queries, "online" is the link to the engine and not the network: they wait while it is lost, and are asked again
// as soon as it is back.
onlineManager.setEventListener((setOnline) => {
  const follow = ({ status }: ConnectionState) => setOnline(status === 'connected');
  follow(connectionStore.getState());
  return connectionStore.subscribe(follow);
});

export const useConnectionStatus = () => useStore(connectionStore, (state) => state.status);
