import { expect, it } from 'vitest';
import { dropSendsWhileClosing } from '../state/connection.ts';
import { ConnectionLost } from './callError.ts';

function socketIn(readyState: WebSocket['readyState']) {
  const sent: unknown[] = [];
  const socket = Object.assign(new EventTarget(), { readyState, send: (data: unknown) => sent.push(data) });
  return { sent, socket: dropSendsWhileClosing(socket) };
}

it('sends on an open socket', () => {
  const { sent, socket } = socketIn(WebSocket.OPEN);
  socket.send('call');
  expect(sent).toEqual(['call']);
});

it('drops what is sent while the socket closes, so that cancelling a call never throws', () => {
  const { sent, socket } = socketIn(WebSocket.CLOSING);
  expect(() => socket.send('never mind')).not.toThrow();
  expect(sent).toEqual([]);
});

it('rejects a call on a closed socket as ConnectionLost', () => {
  const { socket } = socketIn(WebSocket.CLOSED);
  expect(() => socket.send('call')).toThrow(ConnectionLost);
});
