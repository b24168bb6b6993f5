import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import type { ContractRouterClient } from '@orpc/contract';
import { WebSocket } from 'ws';
import type { contract } from '../../contract/index.ts';

export interface SocketClient {
  client: ContractRouterClient<typeof contract>;
  close: () => void;
}

/** Connects like a browser that was given the server's address. */
export async function socketClient(address: string): Promise<SocketClient> {
  const url = new URL(address);
  const entrance = await fetch(url);
  const cookie = entrance.headers.get('set-cookie')?.split(';')[0] ?? '';
  return overSocket(url.host, { cookie, origin: url.origin });
}

export function overSocket(host: string, headers: Record<string, string>): SocketClient {
  const socket = new WebSocket(`ws://${host}/rpc`, { headers });
  return {
    // The package ws has the events and methods of a browser's socket that the link uses.
    client: createORPCClient(new RPCLink({ websocket: socket as unknown as globalThis.WebSocket })),
    close: () => {
      socket.close();
    },
  };
}
