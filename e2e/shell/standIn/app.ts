/** The app's life (api/app): start, single instance, and the order in which it ends. */
import { spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** An event whose default can be prevented. */
interface Preventable {
  preventDefault: () => void;
  readonly defaultPrevented: boolean;
}

export function preventable<Details extends object>(details?: Details): Preventable & Details {
  let prevented = false;
  return Object.defineProperties({ ...details } as Preventable & Details, {
    preventDefault: { value: () => (prevented = true) },
    defaultPrevented: { get: () => prevented },
  });
}

const POLL_MS = 50;

class App extends EventEmitter {
  readonly windows = new Set<Record<'close' | 'destroy', () => void>>();
  readonly commandLine = { hasSwitch: (name: string) => process.argv.includes(`--${name}`) };
  private readonly folder = process.env['STAND_IN_APP'] ?? '';
  private readonly paths = new Map([['documents', join(homedir(), 'Documents')]]);
  private ready = false;
  private readonly becoming = Promise.withResolvers<undefined>();
  private quitting = false;

  get isPackaged(): boolean {
    return process.env['STAND_IN_RESOURCES'] !== undefined;
  }

  getVersion = () =>
    (JSON.parse(readFileSync(join(this.folder, 'package.json'), 'utf8')) as { version: string }).version;
  getLocale = () => 'en-GB';
  isReady = () => this.ready;
  whenReady = () => this.becoming.promise;

  getPath(name: string): string {
    const path = this.paths.get(name);
    if (path === undefined) throw new Error(`Failed to get '${name}' path`);
    return path;
  }

  setPath(name: string, path: string): void {
    if (!existsSync(path)) throw new Error(`${path} does not exist`);
    this.paths.set(name, path);
  }

  setAppUserModelId = () => undefined;
  setAboutPanelOptions = () => undefined;
  getGPUFeatureStatus = () => ({ gpu_compositing: 'disabled_software' });

  enableSandbox = () => this.onlyBeforeReady();
  disableHardwareAcceleration = () => this.onlyBeforeReady();
  private onlyBeforeReady(): void {
    if (this.ready) throw new Error('It can only be called before app is ready');
  }

  /** Not part of Electron: the main module is loaded, for whose top level "ready" waits (tutorial/esm). */
  loaded(): void {
    this.ready = true;
    this.emit('ready', {}, {});
    this.becoming.resolve(undefined);
  }

  requestSingleInstanceLock(): boolean {
    const folder = this.getPath('userData');
    const lock = join(folder, 'StandInLock');
    const owner = lockOwner(lock);
    if (owner !== undefined) {
      writeFileSync(
        join(folder, `StandInRequest-${process.pid}`),
        JSON.stringify({ argv: process.argv, cwd: process.cwd() }),
      );
      return false;
    }
    writeFileSync(lock, String(process.pid));
    process.on('exit', () => rmSync(lock, { force: true }));
    setInterval(() => {
      this.takeSecondStarts(folder);
    }, POLL_MS).unref();
    return true;
  }

  /** "This event is guaranteed to be emitted after the ready event of app gets emitted." */
  private takeSecondStarts(folder: string): void {
    if (!this.ready) return;
    for (const name of readdirSync(folder).filter((entry) => entry.startsWith('StandInRequest-'))) {
      const text = readFileSync(join(folder, name), 'utf8');
      if (!text.endsWith('}')) continue;
      rmSync(join(folder, name));
      const { argv, cwd } = JSON.parse(text) as { argv: string[]; cwd: string };
      this.emit('second-instance', {}, argv, cwd, undefined);
    }
  }

  quit(): void {
    if (this.quitting) return;
    const event = preventable();
    this.emit('before-quit', event);
    if (event.defaultPrevented) return;
    this.quitting = true;
    for (const window of [...this.windows]) window.close();
    if (this.windows.size === 0) this.allWindowsAreClosed();
  }

  /** "[...] the before-quit and will-quit events will not be emitted." */
  exit(code = 0): void {
    for (const window of [...this.windows]) window.destroy();
    this.end(code);
  }

  /** The new program is started when this one is gone. It has no test, so its window shows nothing. */
  relaunch({ args }: { args: string[] }): void {
    this.on('quit', () => {
      spawn(process.execPath, args, { detached: true, stdio: 'ignore' }).unref();
    });
  }

  /** Not part of Electron: a window refused to close, so the app does not quit. */
  stays(): void {
    this.quitting = false;
  }

  /** Not part of Electron: a window is gone, and no longer among `windows`. */
  windowIsGone(): void {
    if (this.windows.size === 0) this.allWindowsAreClosed();
  }

  /** Who quits hears no window-all-closed, and without a listener "the default behavior is to quit the app". */
  private allWindowsAreClosed(): void {
    if (!this.quitting) {
      if (!this.emit('window-all-closed')) this.quit();
      return;
    }
    const event = preventable();
    this.emit('will-quit', event);
    if (event.defaultPrevented) this.quitting = false;
    else this.end(0);
  }

  private end(code: number): void {
    this.emit('quit', {}, code);
    process.exit(code);
  }
}

function lockOwner(lock: string): number | undefined {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

export const app = new App();
