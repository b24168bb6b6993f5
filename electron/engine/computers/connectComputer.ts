import { z } from 'zod';
import { appFailure } from '../../contract/errors.ts';
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
import { SshClient, type SshHost } from './sshClient.ts';
import { ask as askServer, textOf, type Tunnel } from './tunnel.ts';

export interface ComputerConnection {
  readonly ssh: SshClient;
  readonly tunnel: Tunnel;
}

/**
 * Establishes the whole connection to a server on another computer: signs in, installs what is missing,
 * starts the server, opens the tunnel, and checks that the server answers. `ask`: null if nobody may be asked.
 */
export async function connectComputer(
  host: SshHost,
  file: ServerPackage,
  ask: AskPerson | null,
  tell: TellStep,
  signal: AbortSignal,
): Promise<ComputerConnection> {
  const ssh = await SshClient.signIn(host, ask, signal);
  try {
    tell('looking', null);
    const found = await lookAtSystem(ssh, file);
    if (!found.installed) await installServer(ssh, file, found, tell, signal);
    signal.throwIfAborted();
    tell('starting', null);
    const server = await startRemoteServer(ssh, file);
    const tunnel = { end: await ssh.tunnel(server.port), server };
    if ((await versionThere(tunnel)) !== server.version)
      throw appFailure('ssh_failed', message('ssh.tunnel', { host: ssh.address }));
    signal.throwIfAborted();
    return { ssh, tunnel };
  } catch (reason) {
    await ssh.close();
    throw reason;
  }
}

/** Undefined without an answer. */
async function versionThere(tunnel: Tunnel): Promise<string | undefined> {
  const answer = await askServer(tunnel, { path: '/about' }).then(textOf, () => undefined);
  return parseJson(z.object({ version: z.string() }), answer)?.version;
}
