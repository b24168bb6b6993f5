/** Installs the server program on another computer and starts it there, over SSH and without root. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { AppFailure, appFailure } from '../../contract/errors.ts';
import { bytesNamed, message, type Message } from '../../contract/messages.ts';
import { parseJson } from '../../contract/parseJson.ts';
import type { ConnectStep } from '../../contract/rpc/computers.ts';
import { formatBytes } from '../../contract/terminal/format.ts';
import { hashFile } from '../system/hashFile.ts';
import { startedSchema, type DetachedStart, type RunningServer } from './detachedServer.ts';
import type { SshClient } from './sshClient.ts';
import { Progress } from './transfers.ts';

/**
 * The unpacked package is about four times as large as the packed one, and must not fill the disk to the last
 * byte.
 */
const DISK_FACTOR = 6;
/** Node 24 is built for this version of glibc. */
const OLDEST_GLIBC = [2, 28] as const;
/** Marks our lines in the output, since a login may print others. */
const MARK = 'virnucpro:';
/**
 * A folder of the user, so that no privileges are needed. Scripts are one line without single quotes, so that
 * sh, csh and fish pass them on unchanged.
 */
const PROGRAMS_FOLDER = '"${XDG_DATA_HOME:-$HOME/.local/share}/virnucpro-server"';

/**
 * The package that is installed on another computer: command line, window, Python side and Node in one file.
 */
export interface ServerPackage {
  path: string;
  bytes: number;
  sha256: string;
  version: string;
  /** The folder that it is unpacked to; it differs for different contents. */
  id: string;
}

export const SERVER_PACKAGE_ENDING = '-node.tgz';

/**
 * Finds the package of this version: in a packed program beside its resources, in a checkout where `npm run
 * pack:server` writes it, or the one that is named.
 */
export async function serverPackageOf(root: string, version: string, named?: string): Promise<ServerPackage> {
  const name = `virnucpro-${version}-linux-x64${SERVER_PACKAGE_ENDING}`;
  const candidates = named === undefined ? [join(root, 'server', name), join(root, 'out', name)] : [named];
  for (const path of candidates) {
    const bytes = statSync(path, { throwIfNoEntry: false })?.size;
    if (bytes === undefined) continue;
    const sha256 = await hashFile(path);
    return { path, bytes, version, sha256, id: `${version}-${sha256.slice(0, 12)}` };
  }
  throw appFailure('server_package_missing', `There is no ${name}.`);
}

export type TellStep = (step: ConnectStep, fraction: number | null) => void;

/** What is there of a version of the program. */
interface FoundProgram {
  installed: boolean;
  /** How many bytes of the package have arrived. */
  arrivedBytes: number;
}

const sh = (script: string): string => `exec sh -c '${script}'`;

/** Finds what is installed on a computer. Throws if the server cannot run or be installed there. */
export async function lookAtSystem(ssh: SshClient, { id, bytes }: ServerPackage): Promise<FoundProgram> {
  const host = ssh.address;
  const printed = await ssh.run(
    sh(
      [
        `umask 077`,
        `B=${PROGRAMS_FOLDER}`,
        `mkdir -p "$B" 2>/dev/null`,
        `[ -w "$B" ] || echo "${MARK}unwritable=$B"`,
        `echo "${MARK}system=$(uname -sm)"`,
        `echo "${MARK}glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null)"`,
        `echo "${MARK}free=$(df -Pk "$B" | tail -n 1)"`,
        `[ -f "$B/incoming-${id}" ] && echo "${MARK}arrived=$(wc -c < "$B/incoming-${id}")"`,
        `[ -x "$B/${id}/node" ] && echo "${MARK}installed=yes"`,
        `echo "${MARK}end=yes"`,
      ].join('; '),
    ),
  );
  const marked = printed.matchAll(new RegExp(`${MARK}(\\w+)=(.*)$`, 'gm'));
  const found = new Map(Array.from(marked, ([, name = '', value = '']) => [name, value.trim()]));
  if (!found.has('end'))
    throw appFailure('computer_unfit', message('computer.no_answer', { host }), {
      detail: printed.slice(-2_000),
    });
  refuseUnfit(host, found, bytes * DISK_FACTOR);
  return { installed: found.has('installed'), arrivedBytes: Number(found.get('arrived') ?? 0) };
}

/** `needed`: bytes of disk space that installing takes. */
function refuseUnfit(host: string, found: ReadonlyMap<string, string>, needed: number): void {
  const unfit = (cause: Message): AppFailure => appFailure('computer_unfit', cause);
  const system = found.get('system') ?? '';
  if (!/^Linux (x86_64|amd64)$/.test(system)) throw unfit(message('computer.system', { host, system }));
  // Systems with musl report none.
  const [, major = 0, minor = 0] = (/^glibc (\d+)\.(\d+)/.exec(found.get('glibc') ?? '') ?? []).map(Number);
  if (major < OLDEST_GLIBC[0] || (major === OLDEST_GLIBC[0] && minor < OLDEST_GLIBC[1]))
    throw unfit(message('computer.old', { host }));
  if (found.has('installed')) return;
  const folder = found.get('unwritable');
  if (folder !== undefined) throw unfit(message('computer.unwritable', { host, folder }));
  const free = Number(found.get('free')?.split(/\s+/).at(-3)) * 1_024;
  const named = (bytes: number) => bytesNamed(bytes, formatBytes(bytes));
  if (free < needed)
    throw unfit(message('computer.disk', { host, free: named(free), needed: named(needed) }));
}

/** Sends the missing part of the package, compares its SHA-256, and installs it atomically. */
export async function installServer(
  ssh: SshClient,
  file: ServerPackage,
  found: FoundProgram,
  tell: TellStep,
  signal: AbortSignal,
): Promise<void> {
  const incoming = `"$B/incoming-${file.id}"`;
  const start = found.arrivedBytes <= file.bytes ? found.arrivedBytes : 0;
  if (start < file.bytes) {
    const progress = new Progress(({ doneBytes }) => tell('sending', doneBytes / file.bytes), file.bytes);
    const redirect = start === 0 ? '>' : '>>';
    await ssh.run(
      sh(`umask 077; B=${PROGRAMS_FOLDER}; exec cat ${redirect} ${incoming}`),
      progress.restOf(file.path, start),
      signal,
    );
  }
  tell('installing', null);
  const unpack = [
    `umask 077; B=${PROGRAMS_FOLDER}; cd "$B" || exit 1`,
    `S=$(sha256sum ${incoming} | cut -d" " -f1)`,
    `[ "$S" = ${file.sha256} ] || { rm -f ${incoming}; echo "${MARK}outcome=damaged"; exit 0; }`,
    `W=$(mktemp -d "$B/unpacking-XXXXXX") || exit 1`,
    `tar -xzf ${incoming} -C "$W" || { rm -rf "$W"; exit 1; }`,
    // A package from Windows does not record which files are executable.
    `for F in node uv/uv; do [ ! -f "$W/package/$F" ] || chmod u+x "$W/package/$F" || exit 1; done`,
    // Another window may have installed it first.
    `[ -e "$B/${file.id}" ] || { mv "$W/package" "$B/${file.id}" && touch "$B/${file.id}"; }`,
    `rm -rf "$W" ${incoming}`,
    // Programs that were installed before yesterday, and that no server of any computer runs.
    `for D in $(find . -mindepth 1 -maxdepth 1 -type d -mtime +0); do ` +
      `grep -qsF "/\${D#./}\\"" ../virnucpro-desktop/servers/*.json || rm -rf "$D"; done`,
    `echo "${MARK}outcome=installed"`,
  ];
  const printed = await ssh.run(sh(unpack.join('; ')), undefined, signal);
  if (printed.includes(`${MARK}outcome=installed`)) return;
  const damaged = printed.includes(`${MARK}outcome=damaged`);
  throw appFailure(
    'server_not_started',
    message(damaged ? 'computer.damaged' : 'computer.unpacking', { host: ssh.address }),
    { nextStep: 'Connect again.', detail: printed.slice(-2_000) },
  );
}

/** Starts the server there, or finds the running one. */
export async function startRemoteServer(
  ssh: SshClient,
  { id, version }: ServerPackage,
): Promise<RunningServer> {
  const host = ssh.address;
  const program = `B=${PROGRAMS_FOLDER}; exec "$B/${id}/node" "$B/${id}/virnucpro.mjs" serve --detached`;
  const printed = await ssh.run(sh(program)).catch((reason: unknown) => {
    if (!(reason instanceof AppFailure) || reason.error.code === 'ssh_lost') throw reason;
    return reason.error.detail ?? '';
  });
  const line = printed.split('\n').find((one) => one.startsWith(MARK));
  const started = parseJson(startedSchema, line?.slice(MARK.length));
  if (!started) {
    const detail = printed.slice(-2_000);
    throw appFailure('server_not_started', message('computer.not_started', { host }), { detail });
  }
  if (started.outcome === 'running') return started.server;
  const versions = { version: started.version, own: version };
  throw appFailure('server_other_version', message('computer.other_version', { host, ...versions }));
}

/** The line that `serve --detached` prints for `startRemoteServer`. */
export function detachedStartLine(started: DetachedStart): string {
  return `${MARK}${JSON.stringify(started)}`;
}

/**
 * Ends the server on another computer and deletes the program there; settings, weights and results stay.
 * Throws, and deletes nothing, if a run is active.
 */
export async function uninstallServer(ssh: SshClient): Promise<void> {
  // The newest program can find the servers of all versions.
  const steps = [
    `B=${PROGRAMS_FOLDER}`,
    `P=$(ls -t "$B"/*/virnucpro.mjs 2>/dev/null | head -n 1)`,
    `[ -z "$P" ] || "\${P%/*}/node" "$P" serve --end-detached || exit 0`,
    `rm -rf "$B" && echo ${MARK}removed`,
  ];
  const printed = await ssh.run(sh(steps.join('; ')));
  if (printed.includes(`${MARK}removed`)) return;
  throw appFailure('usage', message('computer.not_uninstalled', { host: ssh.address }), {
    detail: printed.slice(-2_000),
  });
}
