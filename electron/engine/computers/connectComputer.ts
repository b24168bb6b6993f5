import { z } from 'zod';
import { appError, AppFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { parseJson } from '../../contract/parseJson.ts';
import type { AskPerson } from './askpass.ts';
import {
  installServer,
  lookAtSystem,
  startRemoteServer,
  type ServerPackage,
  type TellStep,
} from './remoteServer.ts';
import { SshClient } from './sshClient.ts';
import { ask as askServer, textOf, type Tunnel } from './tunnel.ts';

interface ConnectOptions {
  readonly address: string;
  readonly knownHosts: string;
  readonly serverPackage: () => Promise<ServerPackage>;
  /** Null if nobody may be asked. */
  readonly ask: AskPerson | null;
  readonly tell: TellStep;
  readonly signal: AbortSignal;
}

export interface ComputerConnection {
  readonly ssh: SshClient;
  readonly tunnel: Tunnel;
}

/**
 * Establishes the whole connection to a server on another computer: signs in, installs what is missing,
 * starts the server, opens the tunnel, and checks that the server answers.
 */
export async function connectComputer({
  address,
  knownHosts,
  serverPackage,
  ask,
  tell,
  signal,
}: ConnectOptions): Promise<ComputerConnection> {
  tell('signing_in', null);
  const file = await serverPackage();
  const ssh = await SshClient.signIn({ address, knownHosts }, ask, signal);
  try {
    tell('looking', null);
    const found = await lookAtSystem(ssh, address, file);
    if (!found.installed) await installServer(ssh, address, file, found, tell, signal);
    signal.throwIfAborted();
    tell('starting', null);
    const server = await startRemoteServer(ssh, address, file);
    const tunnel = { end: await ssh.tunnel(server.port), server };
    await checkTunnel(tunnel, address);
    signal.throwIfAborted();
    return { ssh, tunnel };
  } catch (reason) {
    await ssh.close();
    throw reason;
  }
}

async function checkTunnel(tunnel: Tunnel, host: string): Promise<void> {
  try {
    const answer = await askServer(tunnel, { path: '/about' });
    const about = parseJson(z.object({ version: z.string() }), await textOf(answer));
    if (about?.version === tunnel.server.version) return;
  } catch {
    // No answer is treated like a wrong answer.
  }
  throw new AppFailure(
    appError('ssh_failed', message('ssh.tunnel', { host }), { nextStep: message('ssh.tunnel.next') }),
  );
}
