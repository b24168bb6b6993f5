import type { EngineClient } from './engineClient.ts';
import { LinkRefused, type EngineLink, type Transport } from './transport.ts';

export type ConnectionState =
  | { readonly status: 'connecting' }
  | { readonly status: 'connected'; readonly client: EngineClient }
  | { readonly status: 'lost'; readonly attempt: number }
  | { readonly status: 'refused' };

export interface Connection {
  retryNow(): void;
  close(): void;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;

/** Waiting time before attempt n (from 1): doubled each time up to ten seconds, spread by a fifth so that
 * several windows do not knock at once. */
export function retryDelay(attempt: number, random: () => number = Math.random): number {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LONGEST_DELAY_MS);
  return delay * (0.9 + 0.2 * random());
}

/** Opens a link and keeps it open until closed or refused; says every change to `publish`. */
export function keepConnected(transport: Transport, publish: (state: ConnectionState) => void): Connection {
  let closed = false;
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

  const run = async () => {
    let attempt = 0;
    publish({ status: 'connecting' });
    while (!closed) {
      try {
        link = await transport.open();
        if (closed) return link.close();
        attempt = 0;
        publish({ status: 'connected', client: link.client });
        const reason = await link.ended;
        link = null;
        if (closed) return;
        if (reason === 'refused') return publish({ status: 'refused' });
      } catch (reason) {
        if (closed) return;
        if (reason instanceof LinkRefused) return publish({ status: 'refused' });
      }
      attempt += 1;
      publish({ status: 'lost', attempt });
      await pause(retryDelay(attempt));
      skipDelay = null;
    }
  };
  void run();

  return {
    retryNow: () => skipDelay?.(),
    close() {
      closed = true;
      link?.close();
      skipDelay?.();
    },
  };
}
