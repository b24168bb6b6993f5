import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import {
  _electron,
  chromium,
  expect,
  type Browser,
  type ElectronApplication,
  type Page,
} from '@playwright/test';
import type Electron from 'electron';
import { findElectron } from '../../../build/electronBinary.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const START_WITHIN_MS = 120_000;
const END_WITHIN_MS = 300_000;

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
  readonly hasEnded: boolean;
  /** Everything that the app wrote to its terminal. */
  readonly output: string;
  /** Ends what is still running, and releases its pages. */
  dispose: () => Promise<void>;
}

export function startShell(options: ShellOptions): Promise<ShellApp> {
  return options.host === 'electron' ? startElectron(options) : Promise.resolve(new StandInApp(options));
}

class StandInApp implements ShellApp {
  output = '';
  hasEnded = false;
  private readonly process: ChildProcess;
  private readonly exit: Promise<number | null>;
  private readonly devtools: Promise<string>;
  private readonly answers = new Map<number, (answer: { value?: unknown; error?: string }) => void>();
  private lastId = 0;
  private browser: Browser | undefined;

  constructor({ appFolder = root, resources, env, args = [] }: ShellOptions) {
    this.process = spawn(process.execPath, [join(import.meta.dirname, '..', 'standIn', 'run.ts'), ...args], {
      env: {
        ...env,
        STAND_IN_APP: appFolder,
        ...(resources === undefined ? {} : { STAND_IN_RESOURCES: resources }),
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.on('data', (data: Buffer) => (this.output += data.toString('utf8')));
    }
    this.exit = new Promise((resolve) => {
      this.process.once('close', (code) => {
        this.hasEnded = true;
        for (const settle of this.answers.values()) settle({ error: 'The app has ended' });
        resolve(code);
      });
    });
    this.devtools = new Promise((resolve, reject) => {
      this.process.on(
        'message',
        (message: { type: string; endpoint: string; id: number; value?: unknown; error?: string }) => {
          if (message.type === 'devtools') resolve(message.endpoint);
          else this.answers.get(message.id)?.(message);
        },
      );
      void this.exit.then(() =>
        reject(new Error(`The app ended without a window. It said:\n${this.output}`)),
      );
    });
    this.devtools.catch(() => undefined);
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  async page(): Promise<Page> {
    const browser = await chromium.connectOverCDP(
      await within(START_WITHIN_MS, this.devtools, 'show a window'),
    );
    this.browser = browser;
    let found: Page | undefined;
    await expect
      .poll(
        () =>
          (found = browser
            .contexts()
            .flatMap((context) => context.pages())
            .find(isAppPage)),
        {
          message: `a page of the app; it said: ${this.output}`,
          timeout: START_WITHIN_MS,
        },
      )
      .toBeDefined();
    if (!found) throw new Error('There is no page');
    return found;
  }

  evaluate<Result, Argument>(what: InMain<Result, Argument>, argument?: Argument): Promise<Result> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.answers.set(id, ({ value, error }) => {
        this.answers.delete(id);
        if (error === undefined) resolve(value as Result);
        else reject(new Error(error));
      });
      this.process.send({ id, code: what.toString(), argument });
    });
  }

  ended(): Promise<number | null> {
    return within(END_WITHIN_MS, this.exit, 'end');
  }

  async dispose(): Promise<void> {
    if (!this.hasEnded) {
      this.process.kill('SIGKILL');
      // The app can no longer end its browser by itself.
      const session = await this.browser?.newBrowserCDPSession();
      await session?.send('Browser.close').catch(() => undefined);
    }
    await this.browser?.close().catch(() => undefined);
    await this.ended();
  }
}

function isAppPage(page: Page): boolean {
  return /^(https:\/\/virnucpro\.app\.test|app:\/\/virnucpro)\//.test(page.url());
}

async function startElectron({ appFolder = root, env, args = [] }: ShellOptions): Promise<ShellApp> {
  const electron = findElectron();
  const app: ElectronApplication = await _electron.launch({
    executablePath: electron.found ? electron.file : '',
    args: [appFolder, ...args, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
    env: Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  });
  const child = app.process();
  let output = '';
  let hasEnded = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data: Buffer) => (output += data.toString('utf8')));
  }
  const exit = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      hasEnded = true;
      resolve(code);
    });
  });
  return {
    pid: child.pid ?? 0,
    page: () => app.firstWindow(),
    evaluate: (what, argument) =>
      app.evaluate(what as unknown as (electron: typeof Electron) => never, argument as never),
    ended: () => within(END_WITHIN_MS, exit, 'end'),
    get hasEnded() {
      return hasEnded;
    },
    get output() {
      return output;
    },
    dispose: async () => {
      if (!hasEnded) child.kill('SIGKILL');
      await exit;
    },
  };
}

async function within<Value>(milliseconds: number, promise: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The app did not ${what} in time`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
