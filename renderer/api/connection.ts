import type { EngineCalls } from './engineClient.ts';
import { LinkRefused, type EngineLink, type LinkEnd, type Transport } from './transport.ts';

export type ConnectionState =
  | { readonly status: 'connecting' }
  | { readonly status: 'connected'; readonly calls: EngineCalls }
  | { readonly status: 'lost'; readonly attempt: number }
  | { readonly status: 'refused' };

export interface Connection {
  retryNow(): void;
  close(): void;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;
const GOOD_LINK_MS = 5000;

/** Waiting time before attempt n (from 1): doubled each time up to ten seconds, spread by a fifth so that
 * several windows do not reconnect at the same moment. */
export function retryDelay(attempt: number, random: () => number = Math.random): number {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LONGEST_DELAY_MS);
  return delay * (0.9 + 0.2 * random());
}

/** Opens a link and keeps it open until it is closed or refused; reports every change to `publish`. */
export function keepConnected(transport: Transport, publish: (state: ConnectionState) => void): Connection {
  const stop = new AbortController();
  const isStopped = () => stop.signal.aborted;
  let link: EngineLink | null = null;
  let skipDelay: (() => void) | null = null;

  const pause = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      skipDelay = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  /** Opens one link and waits until it has ended. */
  const linkOnce = async (): Promise<LinkEnd | 'stopped'> => {
    try {
      link = await transport.open();
      if (isStopped()) {
        link.close();
        return 'stopped';
      }
      publish({ status: 'connected', calls: link.calls });
      return await link.ended;
    } catch (reason) {
      return reason instanceof LinkRefused ? 'refused' : 'lost';
    } finally {
      link = null;
    }
  };

  const run = async () => {
    let attempt = 0;
    publish({ status: 'connecting' });
    while (!isStopped()) {
      const begun = Date.now();
      const end = await linkOnce();
      if (isStopped()) return;
      if (end === 'refused') {
        publish({ status: 'refused' });
        return;
      }
      // A link that held for a while counts as good: the next delays start from the shortest again.
      attempt = Date.now() - begun > GOOD_LINK_MS ? 1 : attempt + 1;
      publish({ status: 'lost', attempt });
      await pause(retryDelay(attempt));
      skipDelay = null;
    }
  };
  void run();

  return {
    retryNow: () => skipDelay?.(),
    close() {
      stop.abort();
      link?.close();
      skipDelay?.();
    },
  };
}
