import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from '@playwright/test';
import { execa } from 'execa';
import { MAIN } from '../../electron/cli/testing/commandLineProcess.ts';
import { liveWorkers } from './runDatabase.ts';

const START_WITHIN_MS = 60_000;

export interface EngineOptions {
  dataFolder: string;
  filesFolder: string;
  port?: number;
  python?: string;
  env?: Record<string, string>;
}

/** `virnucpro serve` as a user starts it, with data of its own. */
export class EngineProcess {
  private readonly options: EngineOptions;
  private readonly subprocess: ReturnType<typeof serve>;
  private readonly addresses: string[] = [];
  /** What it has printed. */
  output = '';
  private ended = false;

  private constructor(options: EngineOptions) {
    this.options = options;
    this.subprocess = serve(options);
    void this.subprocess.then(({ exitCode, signal }) => {
      this.ended = true;
      this.output += `It ended with ${signal ?? exitCode}.\n`;
    });
    for (const stream of [this.subprocess.stdout, this.subprocess.stderr]) {
      createInterface(stream).on('line', (line) => {
        this.output += `${line}\n`;
        const address = /http:\/\/\S+token=\S+/.exec(line)?.[0];
        if (address !== undefined) this.addresses.push(address);
      });
    }
  }

  static async start(options: EngineOptions): Promise<EngineProcess> {
    const engine = new EngineProcess(options);
    await engine.until(() => engine.addresses.length > 0, 'print its address');
    return engine;
  }

  /**
   * Returns an address that admits one browser; the engine prints another one as soon as it has been used.
   */
  async address(): Promise<string> {
    await this.until(() => this.addresses.length > 0, 'print another address');
    return this.addresses.shift() ?? '';
  }

  get port(): number {
    return Number(/127\.0\.0\.1:(\d+)/.exec(this.output)?.[1]);
  }

  get pid(): number {
    return this.subprocess.pid ?? 0;
  }

  /** Process numbers of the workers of its runs. */
  workers(): number[] {
    const { filesFolder } = this.options;
    return globSync('**/run.db', { cwd: filesFolder }).flatMap((file) =>
      liveWorkers(join(filesFolder, dirname(file))),
    );
  }

  /** Ends the engine as abruptly as a power cut would. */
  async kill(): Promise<void> {
    this.subprocess.kill('SIGKILL');
    await this.subprocess;
  }

  /** Ends the engine like Ctrl-C; on Windows, where only a terminal can do that, abruptly. */
  async stop(): Promise<void> {
    this.subprocess.kill('SIGINT');
    const { exitCode } = await this.subprocess;
    if (process.platform !== 'win32') expect(exitCode, this.output).toBe(0);
  }

  /** Starts the same program again with the same data and port. */
  restarted(): Promise<EngineProcess> {
    return EngineProcess.start({ ...this.options, port: this.port });
  }

  private async until(reached: () => boolean, what: string): Promise<void> {
    const deadline = Date.now() + START_WITHIN_MS;
    while (!reached()) {
      if (this.ended || Date.now() > deadline) {
        throw new Error(`The engine did not ${what}. It said:\n${this.output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function serve({ dataFolder, filesFolder, port = 0, python, env = {} }: EngineOptions) {
  const args = ['serve', '--port', String(port), '--root', filesFolder];
  return execa(process.execPath, [MAIN, ...args, ...(python === undefined ? [] : ['--python', python])], {
    env: { VIRNUCPRO_DATA_DIR: dataFolder, ...env },
    stdin: 'ignore',
    reject: false,
    buffer: false,
    killDescendants: true,
  });
}
