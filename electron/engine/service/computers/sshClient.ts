import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { appError, AppFailure, appFailure, type AppError, type ErrorCode } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { HERE } from '../../system/here.ts';
import { answerQuestions, type AskPerson } from './askpass.ts';

/** Options of every ssh. */
const ALWAYS = {
  ConnectTimeout: '20',
  // A broken connection reports nothing: the other side counts as gone after three missing answers.
  ServerAliveInterval: '5',
  ServerAliveCountMax: '3',
  StrictHostKeyChecking: 'ask',
  ExitOnForwardFailure: 'yes',
  // The user's settings for logins must not interfere with ours.
  RequestTTY: 'no',
  RemoteCommand: 'none',
  ForwardAgent: 'no',
  ForwardX11: 'no',
  PermitLocalCommand: 'no',
  LogLevel: 'INFO',
};
/** ssh's own exit code, if it is not that of the command. */
const SSH_FAILED = 255;

/** Marks our lines in the output, since a login may print others. */
export const MARK = 'virnucpro:';
/** What a command has printed as a line with our mark, this name, an equals sign and the value. */
export const valueIn = (printed: string, name: string): string | undefined =>
  new RegExp(`^${MARK}${name}=(.*)$`, 'm').exec(printed)?.[1];
/**
 * A command for any login shell. The steps have no single quotes and no line breaks, so that sh, csh and fish
 * pass them on unchanged.
 */
export const script = (...steps: string[]): string => `exec sh -c 'umask 077; ${steps.join('; ')}'`;
/** Printed when the shell has started, in addition to anything that the login prints. */
const READY = `${MARK}ready`;
/** Runs as long as our end of its input is open. */
const HOLD = script(`echo ${READY}`, 'exec cat > /dev/null');

export interface SshHost {
  readonly address: string;
  /** Host keys that the user has confirmed here; those of ~/.ssh also apply. */
  readonly knownHosts: string;
}

/** One login by OpenSSH's own client, and everything that uses it. */
export type SshClient = Awaited<ReturnType<typeof signIn>>;

/**
 * Signs in; OpenSSH handles keys, agent, jump hosts and ~/.ssh/config. It asks only where keys and an agent are
 * not enough, or the host is unknown; without `ask` it then fails. If possible (not on Windows, where nobody
 * can be asked), further commands and the tunnel share the connection of the login. `signal` ends the
 * connection. Throws an AppFailure.
 */
export async function signIn(host: SshHost, ask: AskPerson | null, signal?: AbortSignal) {
  const { address, knownHosts } = host;
  const shares = HERE.sharesSsh;
  const asks = ask !== null && shares;
  // The path of a socket may have about a hundred characters, some of which ssh needs itself.
  const folder = await mkdtemp(join(shares ? '/tmp' : tmpdir(), 'vnp-'));
  const control = { ControlPath: join(folder, 'c') };
  // The login has read the settings, whose tunnels must not be opened again. After it has ended, no command may
  // open a connection of its own.
  const sharing = shares
    ? ['-F', 'none', ...options({ ...control, ProxyCommand: 'false' })]
    : options({ BatchMode: 'yes' });
  // Confirmed keys are written into the first file; for unknown hosts, ssh itself asks.
  const known = `"${knownHosts.replaceAll('%', '%%')}" ~/.ssh/known_hosts ~/.ssh/known_hosts2`;
  const always = options({ ...ALWAYS, UserKnownHostsFile: known });
  /** Each resolves with the error output of an ssh that stays open, when that ends. */
  const held: Promise<string>[] = [];
  const closing = new AbortController();
  const failure = (stderr: string): AppFailure => new AppFailure(sshFailure(address, stderr));

  function start(args: string[], command: string, until?: AbortSignal, env = {}, input?: Readable) {
    return execa('ssh', ['-T', ...always, ...args, '--', targetOf(address), command], {
      reject: false,
      windowsHide: true,
      env: { LC_ALL: 'C', ...env },
      forceKillAfterDelay: 2_000,
      ...(input ? { input } : {}),
      ...(until ? { cancelSignal: until } : {}),
    });
  }

  /** Starts an ssh that stays open until `close`, or `signal`; resolves when a shell runs at its other end. */
  async function hold(args: string[], env = {}): Promise<void> {
    const until = signal ? AbortSignal.any([closing.signal, signal]) : closing.signal;
    const child = start(args, HOLD, until, env);
    const ended = child.then(({ stderr, code }) => (code === 'ENOENT' ? code : stderr));
    held.push(ended);
    // Data written to a closed connection is discarded.
    child.stdin.on('error', () => undefined);
    child.stdout.setEncoding('utf8');
    let output = '';
    const ready = new Promise<void>((resolve) => {
      child.stdout.on('data', (text: string) => {
        output += text;
        if (output.includes(READY)) resolve();
      });
    });
    const failed = await Promise.race([ready, ended]);
    if (typeof failed !== 'string') return;
    signal?.throwIfAborted();
    throw failed === 'ENOENT' ? appFailure('ssh_missing', message('ssh.missing')) : failure(failed);
  }

  /** Runs a command there that any login shell understands, and returns its output. */
  async function run(command: string, input?: Readable, until?: AbortSignal): Promise<string> {
    const result = await start(sharing, command, until, {}, input);
    if (!result.failed) return result.stdout;
    until?.throwIfAborted();
    if (result.exitCode === undefined || result.exitCode === SSH_FAILED) throw failure(result.stderr);
    // Any other exit code comes from the command.
    const detail = `${result.stdout}\n${result.stderr}`.trim().slice(-2_000);
    const line = detail.split('\n').at(-1) ?? '';
    throw appFailure('ssh_failed', message('ssh.failed', { host: address, line }), { detail });
  }

  /** Opens a tunnel from a loopback port here, which is returned, to one there. */
  async function tunnel(remotePort: number): Promise<number> {
    const port = await freePort();
    await hold([...sharing, '-L', `127.0.0.1:${port}:127.0.0.1:${remotePort}`]);
    return port;
  }

  /** Resolves with the reason when the connection has ended. */
  const ended = (): Promise<AppFailure> => Promise.race(held).then(failure);

  async function close(): Promise<void> {
    closing.abort();
    await Promise.all(held);
    await rm(folder, { recursive: true, force: true });
  }

  const signedIn = new AbortController();
  try {
    const env = asks ? await answerQuestions(folder, ask, signedIn.signal) : {};
    const master = shares ? { ...control, ControlMaster: 'yes', ControlPersist: 'no' } : {};
    await hold(options({ ...master, BatchMode: asks ? 'no' : 'yes', ClearAllForwardings: 'yes' }), env);
    return { address, run, tunnel, ended, close };
  } catch (reason) {
    await close();
    throw reason;
  } finally {
    signedIn.abort();
  }
}

/** ssh accepts a port in its destination only as part of a URL. */
export function targetOf(address: string): string {
  const [, rest, port] = /^(?:ssh:\/\/)?((?:[^@]*@)?(?:\[[^\]]+\]|[^:]+)):(\d{1,5})$/.exec(address) ?? [];
  return rest !== undefined && port !== undefined ? `ssh://${rest}:${port}` : address;
}

function options(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/** A free port of this computer, for the end of a tunnel. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * What OpenSSH's client, which is not translated, prints before it gives up, in the order in which it is
 * tested.
 */
const SIGNS = [
  [/HOST IDENTIFICATION HAS CHANGED|host key for .* has changed/i, 'ssh_host_key_changed'],
  [/Host key verification failed|No .* host key is known/i, 'ssh_host_key_refused'],
  [/Could not resolve hostname|Name or service not known|nodename nor/i, 'ssh_name_unknown'],
  [/Permission denied|Too many auth|No more authentication methods/i, 'ssh_denied'],
  [/Connection refused|timed out|Timeout, server|not responding/i, 'ssh_unreachable'],
  [/No route to host|(Network|Host) is (unreachable|down)/i, 'ssh_unreachable'],
  [/^$|Broken pipe|Connection (to .* )?closed|Connection reset|kex_exchange/i, 'ssh_lost'],
] as const satisfies readonly (readonly [RegExp, ErrorCode])[];

/** Determines from ssh's standard error why it ended, as an error for the user, in whose cause ssh has the word. */
export function sshFailure(host: string, stderr: string): AppError {
  const output = stderr.trim();
  const code = SIGNS.find(([sign]) => sign.test(output))?.[1] ?? 'ssh_failed';
  const line = output.split('\n').at(-1)?.trim() ?? '';
  const cause = line === '' ? message('ssh.lost', { host }) : message('ssh.failed', { host, line });
  return appError(code, cause, { detail: output.slice(-2_000) || undefined });
}

/** Whether a person could help: by confirming a host key, or with a password or passphrase. */
export const needsPerson = ({ code }: AppError): boolean =>
  code === 'ssh_host_key_refused' || code === 'ssh_denied';

/** Whether the network may be back in a moment, so that a retry without questions makes sense. */
export const mayPass = ({ code }: AppError): boolean =>
  code === 'ssh_lost' || code === 'ssh_unreachable' || code === 'ssh_name_unknown';
