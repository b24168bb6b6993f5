import type { StoreApi } from 'zustand';
import type { ConnectionState } from './connection.ts';
import { toShownError, type ShownError } from './callError.ts';
import type { EngineClient } from './engineClient.ts';

type OpenStream<Event> = (client: EngineClient, signal: AbortSignal) => Promise<AsyncIterable<Event>>;

/**
 * Follows a watch call. When the link breaks it waits for the next one and asks anew, so that the window catches up
 * by itself. An error that the engine answers ends it. Returns the function that ends it from here.
 */
export function followStream<Event>(
  connection: StoreApi<ConnectionState>,
  open: OpenStream<Event>,
  handlers: { onEvent: (event: Event) => void; onError?: (error: ShownError) => void },
): () => void {
  let current: AbortController | null = null;

  const follow = async (client: EngineClient) => {
    current?.abort();
    const controller = new AbortController();
    current = controller;
    try {
      for await (const event of await open(client, controller.signal)) {
        if (controller.signal.aborted) return;
        handlers.onEvent(event);
      }
    } catch (reason) {
      const state = connection.getState();
      const stillLinked = state.status === 'connected' && state.client === client;
      const error = toShownError(reason);
      if (!controller.signal.aborted && stillLinked && error.code !== 'connection_lost')
        handlers.onError?.(error);
    }
  };

  const begin = (state: ConnectionState) => {
    if (state.status === 'connected') void follow(state.client);
  };
  begin(connection.getState());
  const unsubscribe = connection.subscribe(begin);
  return () => {
    unsubscribe();
    current?.abort();
  };
}
