import type { MessagePortMain } from 'electron';
import { WebSocket } from 'ws';
import { type Tunnel, tunnelHeaders } from '../../engine/index.ts';

/** A dead tunnel does not close the socket, so it is pinged. */
const PING_INTERVAL_MS = 10_000;
const HANDSHAKE_MS = 20_000;
const LARGEST_MESSAGE_BYTES = 256 * 1024 * 1024;

interface Relay {
  close: () => void;
}

/**
 * Connects a window's port to the engine of another computer. Both carry the same messages, which pass
 * unread; the page itself reaches no network. `lost` is called when the other computer closes the connection,
 * but not after `close`.
 */
export function relayToTunnel(port: MessagePortMain, tunnel: Tunnel, lost: () => void): Relay {
  const socket = new WebSocket(`ws://127.0.0.1:${tunnel.port}/rpc`, {
    headers: tunnelHeaders(tunnel),
    perMessageDeflate: false,
    maxPayload: LARGEST_MESSAGE_BYTES,
    handshakeTimeout: HANDSHAKE_MS,
  });
  let waiting: (string | Uint8Array)[] | undefined = [];
  let answered = true;
  let closed = false;
  const close = (): void => {
    closed = true;
    port.close();
    socket.terminate();
  };
  const timer = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return;
    if (!answered) {
      socket.terminate();
      return;
    }
    answered = false;
    socket.ping();
  }, PING_INTERVAL_MS);
  port.on('message', ({ data }: { data: unknown }) => {
    if (typeof data !== 'string' && !(data instanceof Uint8Array)) return;
    if (waiting) waiting.push(data);
    else socket.send(data);
  });
  port.on('close', close);
  socket.on('open', () => {
    for (const data of waiting ?? []) socket.send(data);
    waiting = undefined;
  });
  socket.on('message', (data: Buffer, isBinary) => {
    port.postMessage(isBinary ? new Uint8Array(data) : data.toString('utf8'));
  });
  socket.on('pong', () => {
    answered = true;
  });
  // The close event follows and is handled.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearInterval(timer);
    if (!closed) lost();
    close();
  });
  return { close };
}
