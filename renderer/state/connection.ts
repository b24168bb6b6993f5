import { createORPCClient, DynamicLink, type ClientContext, type ClientLink } from '@orpc/client';
import { RPCLink as PortLink } from '@orpc/client/message-port';
import { RPCLink as SocketLink } from '@orpc/client/websocket';
import type { ContractRouterClient } from '@orpc/contract';
import type { contract } from '../../electron/contract/index.ts';
import { ConnectionLost } from '../api/callError.ts';
import { createTanstackQueryUtils } from '@orpc/tanstack-query';
import { onlineManager } from '@tanstack/react-query';
import { createStore, useStore, type StoreApi } from 'zustand';

export const connectionStore = createStore<ConnectionState>(() => ({ status: 'connecting' }));

const HOME_LOOK_MS = 100;

let connection: Connection | null = null;

/**
 * Address of the other computer that this page shows; null for the one it runs on. It is part of the address: choosing another computer
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

export const engine = clientOver(connectionStore);

const homeStore = createStore<ConnectionState>(() => ({ status: 'connecting' }));

/** The engine of the program that this window belongs to, whichever computer the window shows. */
export const home = chosenComputer === null ? engine : clientOver(homeStore);

/** Calls go over the current link, and fail with `ConnectionLost` if there is none. */
function clientOver(link: StoreApi<ConnectionState>): EngineClient {
  return createEngineClient(
    new DynamicLink(() => {
      const state = link.getState();
      if (state.status !== 'connected') throw new ConnectionLost();
      return state.calls;
    }),
  );
}

/** The state of the link to `home`. */
export const homeConnection = chosenComputer === null ? connectionStore : homeStore;

async function chosenIsConnected(address: string): Promise<void> {
  for (;;) {
    if (homeStore.getState().status === 'connected') {
      const stop = new AbortController();
      try {
        for await (const computers of await home.computers.list(undefined, { signal: stop.signal })) {
          if (computers.find((one) => one.address === address)?.link.state === 'connected') return;
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

/** Carries calls to the engine over whichever transport this window uses. */
export type EngineCalls = ClientLink<ClientContext>;

/** Every call of the contract, typed. */
type EngineClient = ContractRouterClient<typeof contract>;

export function createEngineClient(calls: EngineCalls): EngineClient {
  return createORPCClient<EngineClient>(calls);
}

/** Why a link ended: it broke and may come back, or this window may not talk to the engine at all. */
export type LinkEnd = 'lost' | 'refused';

export interface EngineLink {
  readonly calls: EngineCalls;
  /** Resolves once, when the link has ended. */
  readonly ended: Promise<LinkEnd>;
  close(): void;
}

/** The engine answered and rejected this window, for example because of a wrong or outdated token. */
export class LinkRefused extends Error {
  constructor() {
    super('The engine refused this window');
    this.name = 'LinkRefused';
  }
}

/** A way to reach the engine. `open` rejects with `LinkRefused`, or with any other error if it may be retried. */
export interface Transport {
  open(): Promise<EngineLink>;
}

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

/** The two names that the preload script exposes. */
interface VirnucproBridge {
  /** Asks main for a port, to the engine of the computer with this address or else to its own. It arrives as a `virnucpro:port` message, since
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
  const calls = new PortLink({
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

/** Close code of a server that accepted the socket only to say that the token is not valid. */
const TOKEN_REFUSED_CODE = 4401;

export function browserTransport(page: string = location.href): Transport {
  const address = new URL('rpc', page);
  address.hash = '';
  address.search = '';
  const probeAddress = address.href;
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  return { open: () => openSocket(address.href, probeAddress) };
}

function openSocket(address: string, probeAddress: string): Promise<EngineLink> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address);
    let opened = false;
    socket.addEventListener('open', () => {
      opened = true;
      const calls = new SocketLink({ websocket: dropSendsWhileClosing(socket) });
      // This listener comes after the client's own, which has dropped all calls by then, so none is cancelled on a dead socket.
      const ended = new Promise<LinkEnd>((settle) => {
        socket.addEventListener('close', ({ code }) =>
          settle(code === TOKEN_REFUSED_CODE ? 'refused' : 'lost'),
        );
      });
      resolve({ calls, ended, close: () => socket.close(1000) });
    });
    socket.addEventListener('close', (event) => {
      if (opened) return;
      const refused = event.code === TOKEN_REFUSED_CODE;
      // If a socket is rejected before it opens, the page does not learn why; a plain request does.
      void isTurnedAway(probeAddress).then((turnedAway) =>
        reject(refused || turnedAway ? new LinkRefused() : new Error('The engine cannot be reached')),
      );
    });
  });
}

type SocketOfLink = Pick<WebSocket, 'addEventListener' | 'removeEventListener' | 'send' | 'readyState'>;

/**
 * A call on a closed socket fails with ConnectionLost. What is sent while the socket closes is dropped: the client gives up
 * all its calls as soon as it has closed.
 */
export function dropSendsWhileClosing(socket: SocketOfLink): SocketOfLink {
  return {
    addEventListener: socket.addEventListener.bind(socket),
    removeEventListener: socket.removeEventListener.bind(socket),
    get readyState() {
      return socket.readyState === WebSocket.CONNECTING ? WebSocket.CONNECTING : WebSocket.OPEN;
    },
    send(data) {
      if (socket.readyState === WebSocket.CLOSED) throw new ConnectionLost();
      if (socket.readyState === WebSocket.OPEN) socket.send(data);
    },
  };
}

async function isTurnedAway(address: string): Promise<boolean> {
  try {
    const response = await fetch(address, { cache: 'no-store', redirect: 'manual' });
    return response.status === 401 || response.status === 403;
  } catch {
    return false;
  }
}
