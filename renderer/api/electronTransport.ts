import { RPCLink } from '@orpc/client/message-port';
import type { EngineLink, LinkEnd, Transport } from './transport.ts';

/** The two names that the preload script exposes. */
interface VirnucproBridge {
  /** Asks main for a port, to the engine of the computer with this id or else to its own. It arrives as a `virnucpro:port` message, since
   * ports cannot cross the context bridge. */
  connect(computer?: string): Promise<unknown>;
  /** Path on disk of a dropped or picked file; empty if it has none. */
  pathForFile(file: File): string;
}

declare global {
  interface Window {
    readonly virnucpro?: VirnucproBridge;
  }
}

const PORT_MESSAGE = 'virnucpro:port';
const PORT_DEADLINE_MS = 10_000;

/** Connects to this program's own engine, or to that of another computer once `ready` resolves. */
export function electronTransport(
  bridge: VirnucproBridge,
  page: Window = window,
  computer = '',
  ready: () => Promise<void> = () => Promise.resolve(),
): Transport {
  return {
    async open() {
      await ready();
      const port = await requestPort(bridge, page, computer);
      return linkOverPort(port, (lost) => onPortGone(page, computer, lost));
    },
  };
}

function requestPort(bridge: VirnucproBridge, page: Window, computer: string): Promise<MessagePort> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      page.removeEventListener('message', receive);
      clearTimeout(deadline);
    };
    const receive = (event: MessageEvent<unknown>) => {
      const port = event.ports[0];
      if (event.source !== page || !isPortMessage(event.data, computer) || !port) return;
      finish();
      resolve(port);
    };
    const deadline = setTimeout(() => {
      finish();
      reject(new Error('The engine did not answer in time'));
    }, PORT_DEADLINE_MS);
    page.addEventListener('message', receive);
    bridge.connect(...(computer === '' ? [] : [computer])).catch((reason: unknown) => {
      finish();
      reject(reason instanceof Error ? reason : new Error(String(reason)));
    });
  });
}

function isPortMessage(data: unknown, computer: string): boolean {
  if (typeof data !== 'object' || data === null || !('type' in data) || data.type !== PORT_MESSAGE)
    return false;
  return ('computer' in data ? data.computer : '') === computer;
}

/** Main sends such a message without a port when the earlier port is dead. */
function onPortGone(page: Window, computer: string, gone: () => void): () => void {
  const receive = (event: MessageEvent<unknown>) => {
    if (event.source === page && event.ports.length === 0 && isPortMessage(event.data, computer)) gone();
  };
  page.addEventListener('message', receive);
  return () => page.removeEventListener('message', receive);
}

export function linkOverPort(
  port: MessagePort,
  onGone: (gone: () => void) => () => void = () => () => undefined,
): EngineLink {
  let end: (reason: LinkEnd) => void = () => {};
  const ended = new Promise<LinkEnd>((resolve) => (end = resolve));
  // We report this ourselves, since not every Chromium tells a page that the other end has closed.
  const closing: (() => void)[] = [() => end('lost')];
  const hasClosed = () => closing.forEach((tell) => tell());
  port.addEventListener('close', hasClosed);
  const calls = new RPCLink({
    port: {
      postMessage: (data: unknown) => port.postMessage(data),
      onMessage: {
        addListener: (listener: (data: unknown) => void) =>
          port.addEventListener('message', ({ data }) => listener(data)),
      },
      onDisconnect: { addListener: (listener: () => void) => closing.push(() => listener()) },
    },
  });
  const forget = onGone(() => {
    port.close();
    hasClosed();
  });
  void ended.then(forget);
  port.start();
  return {
    calls,
    ended,
    close() {
      port.close();
      end('lost');
    },
  };
}
