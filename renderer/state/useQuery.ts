import { useCallback, useEffect, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { toShownError, type ShownError } from '../api/callError.ts';
import type { EngineClient } from '../api/engineClient.ts';
import { connectionStore } from './connection.ts';

export interface Query<Data> {
  readonly data: Data | null;
  readonly error: ShownError | null;
  readonly loading: boolean;
  readonly reload: () => void;
}

/**
 * Asks the engine once for each `key`, again every `everyMs` where given, and again after a reconnect. Data of the
 * last answer stays while the next one is under way, so that nothing flickers. A null key asks nothing.
 */
export function useQuery<Data>(
  key: string | null,
  ask: (client: EngineClient, signal: AbortSignal) => Promise<Data>,
  options: { everyMs?: number | undefined; keepPrevious?: boolean } = {},
): Query<Data> {
  const client = useStore(connectionStore, (state) => (state.status === 'connected' ? state.client : null));
  const [answer, setAnswer] = useState<{ key: string; data: Data | null; error: ShownError | null } | null>(
    null,
  );
  const [round, setRound] = useState(0);
  const latestAsk = useRef(ask);
  useEffect(() => {
    latestAsk.current = ask;
  });
  const { everyMs, keepPrevious = true } = options;

  useEffect(() => {
    if (key === null || client === null) return undefined;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const askOnce = async () => {
      try {
        const data = await latestAsk.current(client, controller.signal);
        if (!controller.signal.aborted) setAnswer({ key, data, error: null });
      } catch (reason) {
        if (controller.signal.aborted) return;
        const error = toShownError(reason);
        if (error.code !== 'connection_lost') setAnswer({ key, data: null, error });
      }
      if (everyMs !== undefined && !controller.signal.aborted)
        timer = setTimeout(() => void askOnce(), everyMs);
    };
    void askOnce();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [key, client, everyMs, round]);

  const reload = useCallback(() => setRound((n) => n + 1), []);
  const isCurrent = answer !== null && answer.key === key;
  return {
    data: isCurrent || keepPrevious ? (answer?.data ?? null) : null,
    error: isCurrent ? answer.error : null,
    loading: key !== null && !isCurrent,
    reload,
  };
}
