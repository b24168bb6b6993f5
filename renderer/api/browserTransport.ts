import { RPCLink } from '@orpc/client/websocket';
import { createEngineClient } from './engineClient.ts';
import { LinkRefused, type EngineLink, type LinkEnd, type Transport } from './transport.ts';

/** Close code of a server that accepted the socket only to say that the token is not valid. */
export const TOKEN_REFUSED_CODE = 4401;

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
    let end: (reason: LinkEnd) => void = () => {};
    const ended = new Promise<LinkEnd>((settle) => (end = settle));
    let opened = false;
    socket.addEventListener('open', () => {
      opened = true;
      const client = createEngineClient(new RPCLink({ websocket: socket }));
      resolve({ client, ended, close: () => socket.close(1000) });
    });
    socket.addEventListener('close', (event) => {
      const refused = event.code === TOKEN_REFUSED_CODE;
      if (opened) {
        end(refused ? 'refused' : 'lost');
        return;
      }
      // A socket that was turned away before it opened does not tell the page why; a plain request does.
      void isTurnedAway(probeAddress).then((turnedAway) =>
        reject(refused || turnedAway ? new LinkRefused() : new Error('The engine cannot be reached')),
      );
    });
  });
}

async function isTurnedAway(address: string): Promise<boolean> {
  try {
    const response = await fetch(address, { cache: 'no-store', redirect: 'manual' });
    return response.status === 401 || response.status === 403;
  } catch {
    return false;
  }
}
