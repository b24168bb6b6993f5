import { once } from 'node:events';
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { SshClient, TunnelEnd } from './sshClient.ts';

const ANSWER_WITHIN_MS = 60_000;

export const runningServerSchema = z.object({
  /** The port on the loopback interface. */
  port: z.int().min(1).max(65_535),
  pid: z.int().positive(),
  version: z.string(),
  hostName: z.string(),
  /** The folder for files that are sent to it. */
  uploads: z.string(),
  /** The folder of the program that it runs. */
  program: z.string(),
  /** Anyone who knows the cookie is admitted as the user. */
  cookie: z.string(),
});
export type RunningServer = z.infer<typeof runningServerSchema>;

/** The server of another computer, as reachable from here. */
export interface Tunnel {
  readonly end: TunnelEnd;
  readonly server: RunningServer;
}

export interface ComputerConnection {
  readonly ssh: SshClient;
  readonly tunnel: Tunnel;
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

/** Requests a path over the tunnel; rejects if the connection breaks before the answer starts. */
export async function ask(
  tunnel: Tunnel,
  path: string,
  { headers, signal }: { headers?: OutgoingHttpHeaders; signal?: AbortSignal } = {},
): Promise<IncomingMessage> {
  const { end } = tunnel;
  const outgoing = request({
    path,
    signal,
    ...('socketPath' in end ? end : { host: '127.0.0.1', port: end.port }),
    headers: { ...headers, ...tunnelHeaders(tunnel) },
    // A reused connection might belong to a tunnel that has been closed since.
    agent: false,
    timeout: ANSWER_WITHIN_MS,
  });
  outgoing.on('timeout', () => outgoing.destroy(new Error('No answer in time')));
  // Also after the answer has started.
  outgoing.on('error', () => undefined);
  outgoing.end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return answer;
}
