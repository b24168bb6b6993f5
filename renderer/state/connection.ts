import { createStore, useStore } from 'zustand';
import { browserTransport } from '../api/browserTransport.ts';
import { ConnectionLost } from '../api/callError.ts';
import { keepConnected, type Connection, type ConnectionState } from '../api/connection.ts';
import { electronTransport } from '../api/electronTransport.ts';
import type { EngineClient } from '../api/engineClient.ts';
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

/** The client of the present link. Throws `ConnectionLost` where there is none. */
export function engine(): EngineClient {
  const state = connectionStore.getState();
  if (state.status !== 'connected') throw new ConnectionLost();
  return state.client;
}

export const useConnectionStatus = () => useStore(connectionStore, (state) => state.status);
