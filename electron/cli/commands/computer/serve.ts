import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname, userInfo } from 'node:os';
import { join, parse, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { appFailure, usage } from '../../../contract/errors.ts';
import {
  endByForce,
  endByForceAfter,
  endBySignal,
  openService,
  replaceFile,
  type Service,
  type ServerThere,
  uploadsFolder,
} from '../../../engine/index.ts';
import {
  isPortTaken,
  startServer,
  type RunningServer,
  type ServerOptions,
} from '../../../server/startServer.ts';
import { EXIT, exitCodeAfter, stopSignals, type StopSignal } from '../../exitCodes.ts';
import { baseHere, programHere } from '../../openEngine.ts';

export interface ServeFlags {
  python?: string;
  port?: number;
  host: string;
  root?: string;
  open?: boolean;
  allowNetwork?: boolean;
  publicName?: string;
  /** The file for what `announce` tells. */
  forSsh?: string;
}

const DEFAULT_PORT = 4170;
/** The longest that stopping the server may take, whatever it has open. */
const END_MS = 10_000;
/** The part of it for stopping a run and closing databases. */
const CLOSE_MS = 9_000;
/** An idle server without a window exits after this long. The next connection starts another. */
const IDLE_MS = 60 * 60_000;
const IDLE_LOOK_MS = 30_000;

/**
 * Browser mode: the desktop app's window for computers without a screen. Ctrl-C ends it and pauses a running
 * run.
 */
export async function serve(flags: ServeFlags): Promise<number> {
  const { paths } = programHere();
  const pageFolder = await builtWindow(paths.root);
  const root = flags.forSsh ? parse(homedir()).root : resolve(flags.root ?? homedir());
  if (!existsSync(root)) throw usage(`There is no folder ${root}.`);
  const say = (line: string): void => void process.stdout.write(`${line}\n`);

  // A signal that arrives while the engine is being opened waits until it can be closed.
  const stopped = nextSignal();
  const service = await openService(baseHere(paths), {
    interpreter: flags.python ?? (process.env['VIRNUCPRO_PYTHON'] || undefined),
    resultsFolder: join(flags.forSsh ? homedir() : root, 'VirNucPro results'),
  });
  let removeForwarding = (): void => undefined;
  const server = await listen(service, flags.forSsh ? { port: 0 } : flags, {
    host: flags.host,
    root,
    pageFolder,
    allowNetwork: flags.allowNetwork === true,
    publicName: flags.publicName,
    onNewAddress: (address) => {
      removeForwarding();
      say(`A browser has been let in. For another one: ${address}`);
    },
  });
  if (flags.forSsh) {
    announce(flags.forSsh, service, server);
    await Promise.race([stopped, untilIdle(service, server)]);
    rmSync(flags.forSsh, { force: true });
    quitOnNextSignal();
    endByForceAfter(END_MS);
    await server.close();
    if (!(await service.close(CLOSE_MS))) endByForce();
    return EXIT.done;
  }
  say(`VirNucPro Desktop is ready: ${server.address()}`);
  // Users at this computer need neither the SSH tunnel nor the path of the files.
  if (process.env['SSH_CONNECTION']) {
    say(
      `On your own computer, first: ssh -L ${server.port}:127.0.0.1:${server.port} ${userInfo().username}@${hostname()}`,
    );
    say(`The page shows files below ${root} (another folder with --root).`);
  }
  if (flags.allowNetwork && flags.publicName === undefined) {
    say('Nothing is encrypted: whoever can listen on the network can read all of it, and take over.');
  }
  say('Stop with Ctrl-C.');

  if (flags.open) removeForwarding = openBrowser(server.address());

  const signal = await stopped;
  const atWork = service.control.queue.active !== null;
  say(
    atWork
      ? 'Stopping after the current batches. What is computed is kept. (Again to quit at once.)'
      : 'Stopping.',
  );
  quitOnNextSignal();
  endByForceAfter(END_MS);
  removeForwarding();
  await server.close();
  if (!(await service.close(CLOSE_MS))) endBySignal(signal);
  if (!atWork) return EXIT.done;
  return exitCodeAfter(signal);
}

/** Tells the desktop app, which has started this server over SSH, where it is, and the cookie that grants access. */
function announce(
  file: string,
  { engine: { appVersion: version, paths } }: Service,
  server: RunningServer,
): void {
  const there: ServerThere = {
    port: server.port,
    pid: process.pid,
    version,
    hostName: hostname(),
    uploads: uploadsFolder(paths.dataDir),
    program: paths.root,
    cookie: server.letIn(),
  };
  writeFileSync(`${file}.tmp`, JSON.stringify(there), { mode: 0o600 });
  replaceFile(`${file}.tmp`, file);
}

/** Resolves after an hour without a window and without anything to compute. */
async function untilIdle({ control }: Service, server: RunningServer): Promise<void> {
  let busy = performance.now();
  while (performance.now() - busy < IDLE_MS) {
    await sleep(IDLE_LOOK_MS, undefined, { ref: false });
    const { active, order } = control.queue;
    if (server.windows() > 0 || active !== null || order.length > 0) busy = performance.now();
  }
}

/** Builds the window in a checkout if it is missing or outdated; an installed program includes it. */
async function builtWindow(root: string): Promise<string> {
  const builder = join(root, 'build', 'buildWindow.ts');
  if (existsSync(builder)) {
    await execa(process.execPath, [builder], { stdio: ['ignore', 'ignore', 'inherit'], reject: false });
  }
  const folder = join(root, 'dist', 'renderer');
  if (existsSync(join(folder, 'index.html'))) return folder;
  throw appFailure('internal', `The window is not there: ${folder} holds no index.html.`, {
    nextStep: 'Install the program again; in a checkout, "npm run build" says why.',
  });
}

/**
 * Listens at the usual port, or at any free one if another program has it and the user did not choose a port.
 */
async function listen(
  service: Service,
  flags: Pick<ServeFlags, 'port'>,
  options: Omit<ServerOptions, 'port'>,
): Promise<RunningServer> {
  try {
    return await startServer(service, { ...options, port: flags.port ?? DEFAULT_PORT });
  } catch (reason) {
    if (flags.port !== undefined || !isPortTaken(reason)) throw reason;
    return startServer(service, { ...options, port: 0 });
  }
}

function nextSignal(): Promise<StopSignal> {
  return new Promise((done) => {
    for (const signal of stopSignals()) process.once(signal, done);
  });
}

/** Gives the next signal its default effect, which ends the process at once: process.exit() would wait for every thread. */
function quitOnNextSignal(): void {
  for (const signal of stopSignals()) process.removeAllListeners(signal);
}

/**
 * Opens an address in the user's browser; without a screen or a browser, the user has only the printed
 * address. Returns a function that removes the file which forwards to the address.
 */
function openBrowser(address: string): () => void {
  const [file, ...args] = opener();
  const forwarding = file === undefined ? undefined : writeForwarding(address);
  if (file === undefined || forwarding === undefined) return () => undefined;
  void execa(file, [...args, forwarding.place], {
    reject: false,
    stdio: 'ignore',
    detached: true,
    cleanup: false,
  });
  return forwarding.remove;
}

interface Forwarding {
  readonly place: string;
  readonly remove: () => void;
}

/**
 * On Linux and macOS every account can read a command line, and the address admits whoever opens it first.
 * Therefore it is written to a page that only this account can read. The page is in the home folder itself,
 * since sandboxed browsers, such as Ubuntu's, see neither hidden folders nor /tmp. Undefined if it can't be
 * written.
 */
function writeForwarding(address: string): Forwarding | undefined {
  if (process.platform === 'win32') return { place: address, remove: () => undefined };
  try {
    const folder = mkdtempSync(join(homedir(), 'VirNucPro-opens-'));
    const place = join(folder, 'open.html');
    const page = `<!doctype html><title>VirNucPro Desktop</title><meta http-equiv="refresh" content="0;url=${address}">`;
    writeFileSync(place, page, { mode: 0o600 });
    return {
      place,
      remove: () => {
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch {
    return undefined;
  }
}

/** The program that opens files and addresses; empty without a screen. */
function opener(): string[] {
  switch (process.platform) {
    case 'darwin':
      return ['open'];
    case 'win32':
      return ['rundll32', 'url.dll,FileProtocolHandler'];
    default:
      return process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY'] ? ['xdg-open'] : [];
  }
}
