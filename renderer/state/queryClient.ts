import { MutationCache, QueryClient, type QueryKey } from '@tanstack/react-query';
import { isConnectionLost } from '../api/callError.ts';
import { sayError } from './say.ts';

export const queryClient = new QueryClient({
  mutationCache: new MutationCache({ onError: sayError }),
  defaultOptions: {
    queries: {
      refetchOnWindowFocus: false,
      // A call cut off with the link is repeated over the next one. An answer of the engine, even an error, is final.
      retry: (_attempts, reason) => isConnectionLost(reason),
      retryDelay: 250,
    },
    // A button pressed without a link fails at once: its action must not happen minutes later.
    mutations: { networkMode: 'always' },
  },
});

/** Asks again for what an action has changed. The action's button must not wait for the answers, which may never come. */
export function askAgain(queryKey: QueryKey = []): void {
  void queryClient.invalidateQueries({ queryKey });
}
