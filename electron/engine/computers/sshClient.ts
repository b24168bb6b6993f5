import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { execa } from 'execa';
import { appError, AppFailure, type AppError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { HERE } from '../system/here.ts';
import { answerQuestions, type AskPerson } from './askpass.ts';
import { sshFailure } from './sshFailure.ts';

const CONNECT_WITHIN_S = 20;
/**
 * A broken connection reports nothing: ssh asks the other side, which counts as gone after three missing
 * answers.
 */
const ALIVE_EVERY_S = 5;
const ALIVE_MISSED = 3;
/** ssh's own exit code, if it is not that of the command. */
const SSH_FAILED = 255;

/** Marks our lines in the output, since a login may print others. */
export const MARK = 'virnucpro:';
/**
 * A command for any login shell. The steps have no single quotes and no line breaks, so that sh, csh and fish
 * pass them on unchanged.
 */
export const script = (...steps: string[]): string => `exec sh -c 'umask 077; ${steps.join('; ')}'`;
/** Printed when the shell has started, in addition to anything that the login prints. */
const READY = `${MARK}ready`;
/** Runs as long as our end of its input is open. */
const HOLD = script(`echo ${READY}`, 'exec cat > /dev/null');

/** This computer's end of a tunnel. */
export type TunnelEnd = { readonly socketPath: string } | { readonly port: number };

type Env = Readonly<Record<string, string>>;

export interface SshHost {
  readonly address: string;
  /** Host keys that the user has confirmed here; those of ~/.ssh also apply. */
  readonly knownHosts: string;
}

/**
 * One login by OpenSSH's own client, and everything that uses it. OpenSSH handles keys, agent, jump hosts and
 * ~/.ssh/config. If possible (not on Windows), further commands and the tunnel share the connection of the
 * first.
 */
export class SshClient {
  private readonly host: SshHost;
  private readonly folder: string;
  private readonly ask: AskPerson | null;
  /** Each resolves with the error output of an ssh that stays open, when that ends. */
  private readonly held: Promise<string>[] = [];
  private readonly closing = new AbortController();

  private constructor(host: SshHost, folder: string, ask: AskPerson | null) {
    this.host = host;
    this.folder = folder;
    // On Windows, nobody can be asked.
    this.ask = HERE.sharesSsh ? ask : null;
  }

  /**
   * Signs in. ssh asks only where keys and an agent are not enough, or the host is unknown; without `ask` it
   * then fails. `signal` ends the connection. Throws an AppFailure.
   */
  static async signIn(host: SshHost, ask: AskPerson | null, signal?: AbortSignal): Promise<SshClient> {
    // The path of a socket may have about a hundred characters, some of which ssh needs itself.
    const parent = HERE.sharesSsh ? '/tmp' : tmpdir();
    const client = new SshClient(host, await mkdtemp(join(parent, 'vnp-')), ask);
    try {
      const askpass = client.ask ? await answerQuestions(client.folder, client.ask) : undefined;
      const settings = {
        ...(HERE.sharesSsh && { ControlMaster: 'yes', ControlPath: client.control, ControlPersist: 'no' }),
        ...{ BatchMode: askpass ? 'no' : 'yes', ClearAllForwardings: 'yes' },
      };
      await client.hold(options(settings), askpass?.env, signal).finally(() => askpass?.close());
      return client;
    } catch (reason) {
      await client.close();
      throw reason;
    }
  }

  get address(): string {
    return this.host.address;
  }

  /** Resolves with the reason when the connection has ended. */
  get ended(): Promise<AppFailure> {
    return Promise.race(this.held).then((stderr) => new AppFailure(this.failure(stderr)));
  }

  /** Runs a command there that any login shell understands, and returns its output. */
  async run(command: string, input?: Readable, signal?: AbortSignal): Promise<string> {
    const result = await this.ssh(this.sharing(), command, { input, signal });
    if (!result.failed) return result.stdout;
    signal?.throwIfAborted();
    const detail = `${result.stdout}\n${result.stderr}`.trim().slice(-2_000);
    // Any other exit code comes from the command.
    const isOfSsh = result.exitCode === undefined || result.exitCode === SSH_FAILED;
    const named = { host: this.address, line: detail.split('\n').at(-1) ?? '' };
    const error = isOfSsh
      ? this.failure(result.stderr)
      : appError('ssh_failed', message('ssh.failed', named));
    throw new AppFailure({ ...error, detail });
  }

  /** Opens a tunnel from here to a loopback port there. */
  async tunnel(remotePort: number): Promise<TunnelEnd> {
    const end: TunnelEnd = HERE.sharesSsh
      ? { socketPath: join(this.folder, `t${this.held.length}`) }
      : { port: await freePort() };
    const local = 'socketPath' in end ? end.socketPath : `127.0.0.1:${end.port}`;
    await this.hold([
      ...this.sharing(),
      ...options({ ExitOnForwardFailure: 'yes', StreamLocalBindMask: '0177', StreamLocalBindUnlink: 'yes' }),
      '-L',
      `${local}:127.0.0.1:${remotePort}`,
    ]);
    return end;
  }

  async close(): Promise<void> {
    this.closing.abort();
    await Promise.all(this.held);
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The socket of the login, over which further commands go. */
  private get control(): string {
    return join(this.folder, 'c');
  }

  /** Options for further commands over the existing connection. */
  private sharing(): string[] {
    if (!HERE.sharesSsh) return options({ BatchMode: 'yes' });
    return [
      // The login has read the settings; tunnels defined there must not be opened again.
      ...['-F', 'none'],
      // After the login has ended, no command may open a connection of its own.
      ...options({ ControlMaster: 'no', ControlPath: this.control, ProxyCommand: 'false' }),
    ];
  }

  /** Starts an ssh that stays open until `close`, or `signal`; resolves when a shell runs at its other end. */
  private async hold(
    args: string[],
    env: Env = {},
    signal: AbortSignal = this.closing.signal,
  ): Promise<void> {
    const until = AbortSignal.any([signal, this.closing.signal]);
    const child = this.ssh(args, HOLD, { env, signal: until });
    const ended = child.then(({ stderr, code }) => (code === 'ENOENT' ? code : stderr));
    this.held.push(ended);
    // Data written to a closed connection is discarded.
    child.stdin.on('error', () => undefined);
    const ready = new Promise<void>((resolve) => {
      let output = '';
      child.stdout.on('data', (data: Buffer) => {
        if (output.includes(READY)) return;
        output += data.toString('utf8');
        if (output.includes(READY)) resolve();
      });
    });
    const failed = await Promise.race([ready, ended]);
    if (typeof failed !== 'string') return;
    signal.throwIfAborted();
    throw new AppFailure(
      failed === 'ENOENT' ? appError('ssh_missing', message('ssh.missing')) : this.failure(failed),
    );
  }

  private failure(stderr: string): AppError {
    return sshFailure(this.address, stderr, this.ask !== null);
  }

  private ssh(
    args: string[],
    command: string,
    { env, input, signal }: { env?: Env; input?: Readable | undefined; signal?: AbortSignal | undefined },
  ) {
    const fixed = options({
      ConnectTimeout: String(CONNECT_WITHIN_S),
      ServerAliveInterval: String(ALIVE_EVERY_S),
      ServerAliveCountMax: String(ALIVE_MISSED),
      // Confirmed keys are written into the first file; for unknown hosts, ssh itself asks.
      UserKnownHostsFile: `"${this.host.knownHosts.replaceAll('%', '%%')}" ~/.ssh/known_hosts ~/.ssh/known_hosts2`,
      StrictHostKeyChecking: 'ask',
      // The user's settings for logins must not interfere with ours.
      RequestTTY: 'no',
      RemoteCommand: 'none',
      ForwardAgent: 'no',
      ForwardX11: 'no',
      PermitLocalCommand: 'no',
      LogLevel: 'INFO',
    });
    return execa('ssh', ['-T', ...fixed, ...args, '--', targetOf(this.address), command], {
      reject: false,
      windowsHide: true,
      env: { ...process.env, LC_ALL: 'C', ...env },
      extendEnv: false,
      forceKillAfterDelay: 2_000,
      ...(input ? { input } : {}),
      ...(signal ? { cancelSignal: signal } : {}),
    });
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
