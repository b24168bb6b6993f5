import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { _electron, chromium, expect, type Page } from '@playwright/test';
import type Electron from 'electron';
import { freePort } from '../../../electron/engine/service/computers/sshClient.ts';
import { findElectron } from '../../../build/electronBinary.ts';
import { findChromium, launchOptions } from '../../support/findChromium.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const STAND_IN = join(import.meta.dirname, '..', 'standIn', 'run.ts');
const START_WITHIN_MS = 120_000;
const END_WITHIN_MS = 300_000;
const IS_ROOT = process.getuid?.() === 0;

export type Host = 'stand-in' | 'electron';

export interface ShellOptions {
  host: Host;
  /** The app's folder: the checkout, or an unpacked `app.asar`. */
  appFolder?: string;
  /** The resources of a packed app. */
  resources?: string;
  env: NodeJS.ProcessEnv;
  args?: string[];
}

type InMain<Result, Argument> = (electron: typeof Electron, argument: Argument) => Result | Promise<Result>;

/** The running desktop app, in either host. */
export interface ShellApp {
  readonly pid: number;
  /** The page of the first window. */
  page: () => Promise<Page>;
  /** Runs a function in the main process; it can use only its arguments. */
  evaluate: <Result, Argument = undefined>(
    what: InMain<Result, Argument>,
    argument?: Argument,
  ) => Promise<Result>;
  /** Resolves to the exit code when the app has ended. */
  ended: () => Promise<number | null>;
  /** Everything that the app wrote to its terminal. */
  readonly output: string;
  /** Ends what is still running, and releases its pages. */
  dispose: () => Promise<void>;
}

type Control = Pick<ShellApp, 'page' | 'evaluate' | 'dispose'>;

export function startShell(options: ShellOptions): Promise<ShellApp> {
  return options.host === 'electron' ? startElectron(options) : startStandIn(options);
}

/**
 * Starts the app without controlling it, and resolves to its exit code. Playwright takes an app that ends before it is ready, as a second one
 * does, for one that failed.
 */
export function runShell(options: ShellOptions): Promise<number | null> {
  const { host, args = [], appFolder = root } = options;
  const electron = findElectron();
  const [program, app] =
    host === 'electron' && electron.found ? [electron.file, appFolder] : [process.execPath, STAND_IN];
  const child = spawn(program, [app, ...args, ...(IS_ROOT ? ['--no-sandbox'] : [])], {
    env: environment(options),
    stdio: 'inherit',
  });
  return new WatchedProcess(child).ended();
}

const environment = ({ env, appFolder = root, resources }: ShellOptions): NodeJS.ProcessEnv => ({
  ...env,
  STAND_IN_APP: appFolder,
  STAND_IN_RESOURCES: resources,
});

/** A process with its output and its end. */
class WatchedProcess {
  output = '';
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;

  constructor(child: ChildProcess) {
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => (this.output += data.toString('utf8')));
    this.exit = new Promise((resolve) => child.once('close', resolve));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async ended(): Promise<number | null> {
    const late = sleep(END_WITHIN_MS, 'late' as const, { ref: false });
    const end = await Promise.race([this.exit, late]);
    if (end === 'late') throw new Error(`The app did not end. It said:\n${this.output}`);
    return end;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exit;
  }
}

async function startStandIn(options: ShellOptions): Promise<ShellApp> {
  const port = await freePort();
  const { args, ...launch } = launchOptions(findChromium());
  const browser = await chromium.launch({
    ...launch,
    args: [...args, `--remote-debugging-port=${port}`, '--window-size=1440,900'],
  });
  const address = `http://127.0.0.1:${port}`;
  // Contexts of the app's own connection cannot be seen from the one that started Chromium.
  const pages = await chromium.connectOverCDP(address);
  const child = spawn(process.execPath, [STAND_IN, ...(options.args ?? [])], {
    env: { ...environment(options), STAND_IN_CHROMIUM: address },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const watched = new WatchedProcess(child);
  const answers = new Map<number, (answer: { value?: unknown; error?: string }) => void>();
  child.on('message', ({ id, ...answer }: { id: number; value?: unknown; error?: string }) => {
    answers.get(id)?.(answer);
    answers.delete(id);
  });
  const gone = watched.exit.then((): never => {
    throw new Error(`The app has ended. It said:\n${watched.output}`);
  });
  gone.catch(() => undefined);
  let lastId = 0;
  return Object.assign(watched, {
    page: async () => {
      const shown = () => pages.contexts().flatMap((context) => context.pages());
      const ofApp = () => shown().find((page) => page.url().startsWith('https:'));
      const message = `a page of the app; it said: ${watched.output}`;
      await expect.poll(() => ofApp() !== undefined, { message, timeout: START_WITHIN_MS }).toBe(true);
      return ofApp() as Page;
    },
    evaluate: (what, argument) => {
      const id = ++lastId;
      child.send({ id, code: what.toString(), argument });
      return Promise.race([
        new Promise<never>((resolve, reject) => {
          answers.set(id, ({ value, error }) => {
            if (error === undefined) resolve(value as never);
            else reject(new Error(error));
          });
        }),
        gone,
      ]);
    },
    dispose: async () => {
      await watched.kill();
      await browser.close();
    },
  } satisfies Control);
}

async function startElectron(options: ShellOptions): Promise<ShellApp> {
  const electron = findElectron();
  const app = await _electron.launch({
    executablePath: electron.found ? electron.file : '',
    args: [options.appFolder ?? root, ...(options.args ?? []), ...(IS_ROOT ? ['--no-sandbox'] : [])],
    // Playwright would otherwise switch the sandbox off, and the app would respect that.
    chromiumSandbox: !IS_ROOT,
    // Playwright leaves out what is undefined.
    env: environment(options) as Record<string, string>,
  });
  const watched = new WatchedProcess(app.process());
  return Object.assign(watched, {
    page: () => app.firstWindow(),
    evaluate: (what, argument) =>
      app.evaluate(what as unknown as (electron: typeof Electron) => never, argument as never),
    dispose: () => watched.kill(),
  } satisfies Control);
}
