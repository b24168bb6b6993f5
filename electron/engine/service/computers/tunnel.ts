import { z } from 'zod';
import type { SshClient } from './sshClient.ts';

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

/** The server of another computer, as reachable from a loopback port here. */
export interface Tunnel {
  readonly port: number;
  readonly server: RunningServer;
}

export interface ComputerConnection {
  readonly ssh: SshClient;
  readonly tunnel: Tunnel;
}

/** Identifies the user to the server. */
export function tunnelHeaders({ port, server: { cookie } }: Tunnel): Record<string, string> {
  return { origin: `http://127.0.0.1:${port}`, cookie };
}

/** Requests a path over the tunnel. */
export function ask(tunnel: Tunnel, path: string, headers = {}, signal?: AbortSignal): Promise<Response> {
  const all = { headers: { ...headers, ...tunnelHeaders(tunnel) }, signal: signal ?? null };
  return fetch(`http://127.0.0.1:${tunnel.port}${path}`, all);
}
