import { RPCLink } from '@orpc/client/websocket';
import { ConnectionLost } from './callError.ts';
import { LinkRefused, type EngineLink, type LinkEnd, type Transport } from './transport.ts';

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
      const calls = new RPCLink({ websocket: dropSendsWhileClosing(socket) });
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
