/**
 * The server on another computer. It outlives the login, and there is one for each user and computer: it holds
 * a lock as long as it runs, and writes a file, which only the user may read, that says how to reach it.
 */
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { appFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { MARK, script, type SshClient } from './sshClient.ts';
import { ask, runningServerSchema, type RunningServer, type Tunnel } from './tunnel.ts';

/** Many computers may share a home folder, as in a cluster. */
const PLACE = [
  'D="${VIRNUCPRO_DATA_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/virnucpro-desktop}"',
  'S="$D/servers/$(uname -n)"',
  'mkdir -p "$D/servers" "$D/logs"',
];
const IS_FREE = 'flock -n "$S.lock" true';
const PRINT = `printf "${MARK}%s\\n" "$(cat "$S.json")"`;
/** For two minutes at most. */
const waitWhile = (condition: string): string =>
  `N=0; while ${condition} && [ $N -lt 600 ]; do sleep 0.2; N=$((N+1)); done`;

/** Starts a server by this command, unless one runs already, whichever started it. */
export async function startServer(ssh: SshClient, command: string): Promise<RunningServer> {
  const printed = await ssh.run(
    script(
      ...PLACE,
      'exec 9>> "$S.lock"',
      // The server inherits the lock.
      `if flock -n 9; then rm -f "$S.json"; setsid ${command} serve --for-ssh "$S.json" ` +
        '< /dev/null > "$D/logs/server.log" 2>&1 & fi',
      'exec 9>&-',
      waitWhile(`[ ! -s "$S.json" ] && ! ${IS_FREE}`),
      `if [ -s "$S.json" ]; then ${PRINT}; else tail -c 2000 "$D/logs/server.log"; fi`,
    ),
  );
  const server = serverIn(printed);
  if (server) return server;
  throw appFailure('server_not_started', message('computer.not_started', { host: ssh.address }), {
    detail: printed.slice(-2_000).trim(),
  });
}

/** The server that runs there; undefined if there is none. */
export async function findServer(ssh: SshClient): Promise<RunningServer | undefined> {
  return serverIn(await ssh.run(script(...PLACE, `${IS_FREE} || ${PRINT}`)));
}

/** Ends a server; returns false if one of its runs is active, or it does not end. */
export async function endServer(ssh: SshClient, server: RunningServer): Promise<boolean> {
  const about = await askAbout({ end: await ssh.tunnel(server.port), server });
  if (about?.atWork === true) return false;
  const ended = `${IS_FREE} && echo ${MARK}ended`;
  const steps = [`kill ${server.pid}`, waitWhile(`! ${IS_FREE}`), ended];
  return (await ssh.run(script(...PLACE, ...steps))).includes(`${MARK}ended`);
}

/** Undefined if the server does not answer. */
export async function askAbout(tunnel: Tunnel): Promise<{ version: string; atWork: boolean } | undefined> {
  const answer = await ask(tunnel, '/about').then(text, () => undefined);
  return parseJson(z.object({ version: z.string(), atWork: z.boolean() }), answer);
}

function serverIn(printed: string): RunningServer | undefined {
  const line = printed.split('\n').find((one) => one.startsWith(MARK));
  return parseJson(runningServerSchema, line?.slice(MARK.length));
}
