import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';

interface ForkOptions {
  env?: NodeJS.ProcessEnv;
  stdio?: 'ignore' | 'inherit' | 'pipe';
}

/** A process of Node's that exchanges messages over `process.parentPort` (api/utility-process). */
class UtilityProcess extends EventEmitter {
  private readonly child: ChildProcess;

  constructor(modulePath: string, args: readonly string[], { env, stdio = 'inherit' }: ForkOptions) {
    super();
    this.child = fork(join(import.meta.dirname, 'utilityChild.ts'), [modulePath, ...args], {
      env,
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', stdio, stdio, 'ipc'],
    });
    this.child.on('spawn', () => this.emit('spawn'));
    this.child.on('message', (message) => this.emit('message', message));
    this.child.on('exit', (code) => this.emit('exit', code ?? 0));
  }

  /** "undefined" before it has spawned and after it has exited. */
  get pid(): number | undefined {
    return this.child.exitCode === null && this.child.signalCode === null ? this.child.pid : undefined;
  }

  postMessage(message: object): void {
    this.child.send(message, () => undefined);
  }

  kill(): boolean {
    return this.child.kill('SIGTERM');
  }
}

export const utilityProcess = {
  fork: (modulePath: string, args: readonly string[] = [], options: ForkOptions = {}) =>
    new UtilityProcess(modulePath, args, options),
};
