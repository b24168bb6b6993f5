import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { REAL_PYTHON } from '../../engine/testing/realFiles.ts';
import { testBundle } from '../../engine/testing/testBundles.ts';

export const MAIN = fileURLToPath(testBundle('virnucpro.mjs', new URL('../main.ts', import.meta.url)));

/** Flags for a run with many small parts, which two workers compute. */
export const MANY_PARTS = [
  '--model',
  'teaching',
  '--devices',
  'cpu:2',
  '--residues-per-part',
  '800',
  '--python',
  REAL_PYTHON,
];

export interface ProcessLimits {
  /** Shell commands that run before it, such as ulimit. */
  shell?: string;
  /** The time after which it is killed. */
  timeoutMs?: number;
  /** Arguments for Node itself. */
  node?: string[];
  env?: Record<string, string>;
}

/** Runs the command line in its own process. */
export function virnucpro(
  args: string[],
  { shell, timeoutMs, node = [], env }: ProcessLimits = {},
): ChildProcess {
  const [file, ...rest] =
    shell === undefined
      ? [process.execPath, ...node, MAIN, ...args]
      : ['/bin/bash', '-c', `${shell}\nexec "$@"`, 'bash', process.execPath, ...node, MAIN, ...args];
  return spawn(file, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    killSignal: 'SIGKILL',
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  });
}

export interface Ending {
  code: number | null;
  output: string;
}

export function ended(child: ChildProcess): Promise<Ending> {
  let output = '';
  child.stderr?.on('data', (data) => (output += String(data)));
  child.stdout?.on('data', (data) => (output += String(data)));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      resolve({ code, output });
    });
  });
}

/** Runs it until it exits, which must succeed; returns its output. */
export async function succeeds(args: string[], limits?: ProcessLimits): Promise<string> {
  const { code, output } = await ended(virnucpro(args, limits));
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${output}`);
  return output;
}

/** Throws if the condition does not become true in time; the limit allows for a busy machine. */
export async function waitUntil(
  condition: () => boolean,
  description: string,
  limitMs = 120_000,
): Promise<void> {
  for (const begin = performance.now(); !condition();) {
    if (performance.now() - begin > limitMs) throw new Error(`Waited in vain until ${description}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
