import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from '@playwright/test';
import { execa } from 'execa';
import { MAIN } from '../../electron/cli/testing/commandLineProcess.ts';
import { liveWorkers } from './runDatabase.ts';

export interface EngineOptions {
  dataFolder: string;
  filesFolder: string;
  /** What is started, by default `virnucpro serve`. */
  command?: readonly string[];
  port?: number;
  env?: Record<string, string>;
}

/** A server as a user starts it, with data of its own. */
export class EngineProcess {
  private readonly options: EngineOptions;
  private readonly subprocess: ReturnType<typeof serve>;
  private readonly addresses: string[] = [];
  /** What it has printed. */
  output = '';

  constructor(options: EngineOptions) {
    this.options = options;
    this.subprocess = serve(options);
    createInterface(this.subprocess.all).on('line', (line) => {
      this.output += `${line}\n`;
      const address = /http:\/\/\S+token=\S+/.exec(line)?.[0];
      if (address !== undefined) this.addresses.push(address);
    });
  }

  /**
   * Returns an address that admits one browser; the engine prints another one as soon as it has been used.
   */
  async address(): Promise<string> {
    const options = { message: 'addresses that the engine printed', timeout: 120_000 };
    await expect.poll(() => this.addresses.length, options).toBeGreaterThan(0);
    return this.addresses.shift() ?? '';
  }

  get port(): number {
    return Number(/127\.0\.0\.1:(\d+)/.exec(this.output)?.[1]);
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
}

function serve({ dataFolder, filesFolder, command = [MAIN, 'serve'], port = 0, env = {} }: EngineOptions) {
  return execa(process.execPath, [...command, '--port', String(port), '--root', filesFolder], {
    env: { VIRNUCPRO_DATA_DIR: dataFolder, ...env },
    stdin: 'ignore',
    all: true,
    reject: false,
    buffer: false,
    killDescendants: true,
  });
}
