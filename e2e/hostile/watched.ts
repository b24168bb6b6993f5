import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 25;

export interface Watched {
  /** `null` if it had to be killed because it did not end. */
  code: number | null;
  output: string;
  /** Largest peak of resident memory of any process in the tree, in megabytes. */
  peakMegabytes: number;
}

export interface WatchedOptions {
  env: Record<string, string>;
  timeoutMs: number;
}

/**
 * Runs a command in a process group of its own and records the peak memory of each process below it. Linux
 * only.
 */
export function watched(command: readonly string[], { env, timeoutMs }: WatchedOptions): Promise<Watched> {
  const [file, ...args] = command;
  if (file === undefined) throw new Error('There is no command to watch.');
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${file} does not start.`);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (output = (output + data.toString()).slice(-100_000)));
  const memory = new MemoryWatch(pid);
  let hung = false;
  const limit = setTimeout(() => {
    hung = true;
    killTree(pid);
  }, timeoutMs);
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(limit);
      memory.stop();
      resolve({ code: hung ? null : code, output, peakMegabytes: memory.peakMegabytes });
    });
  });
}

/** Checks a process and its descendants repeatedly, for the largest peak memory of any of them. */
export class MemoryWatch {
  private readonly root: number;
  private readonly timer: NodeJS.Timeout;
  private peakKilobytes = 0;

  constructor(root: number) {
    this.root = root;
    this.timer = setInterval(() => {
      this.look();
    }, LOOK_EVERY_MS);
    this.timer.unref();
  }

  private look(): void {
    for (const pid of treeOf(this.root))
      this.peakKilobytes = Math.max(this.peakKilobytes, peakKilobytesOf(pid));
  }

  get peakMegabytes(): number {
    return Math.round(this.peakKilobytes / 1024);
  }

  stop(): void {
    this.look();
    clearInterval(this.timer);
  }
}

export function killTree(root: number): void {
  for (const pid of treeOf(root)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended in the meantime.
    }
  }
}

/** A process and all that it has started, directly or indirectly. */
function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const parent = Number(field(pid, 'PPid'));
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function peakKilobytesOf(pid: number): number {
  return Number.parseInt(field(pid, 'VmHWM') ?? '0', 10);
}

function field(pid: number, name: string): string | undefined {
  try {
    return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}
