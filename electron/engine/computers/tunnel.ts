import { request, type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RunningServer } from './detachedServer.ts';
import type { TunnelEnd } from './sshClient.ts';

const ANSWER_WITHIN_MS = 60_000;

/** The server of another computer, as reachable from here. */
export interface Tunnel {
  readonly end: TunnelEnd;
  readonly server: RunningServer;
}

/**
 * Identifies the user to the server: requests carry its own address, whatever the address of the tunnel's end
 * here.
 */
export function tunnelHeaders({ server: { port, cookie } }: Tunnel): Record<string, string> {
  const host = `127.0.0.1:${port}`;
  return { host, origin: `http://${host}`, cookie };
}

/** The address for a WebSocket. */
export function tunnelSocketAddress({ end }: Tunnel): string {
  return 'socketPath' in end ? `ws+unix://${end.socketPath}:/rpc` : `ws://127.0.0.1:${end.port}/rpc`;
}

/** Sends one request over the tunnel; rejects if the connection breaks before the answer starts. */
export async function ask(
  tunnel: Tunnel,
  {
    headers,
    ...options
  }: Pick<RequestOptions, 'method' | 'path'> & { headers?: OutgoingHttpHeaders; signal?: AbortSignal },
  body?: Readable,
): Promise<IncomingMessage> {
  const { end } = tunnel;
  const outgoing = request({
    ...options,
    ...('socketPath' in end ? end : { host: '127.0.0.1', port: end.port }),
    headers: { ...headers, ...tunnelHeaders(tunnel) },
    // A reused connection might belong to a tunnel that has been closed since.
    agent: false,
    timeout: ANSWER_WITHIN_MS,
  });
  outgoing.on('timeout', () => outgoing.destroy(new Error('No answer in time')));
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
  });
  if (body) {
    // The answer may arrive before everything was sent, and then counts.
    pipeline(body, outgoing).catch(() => undefined);
  } else outgoing.end();
  return answer;
}

export async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
