/**
 * Starts a desktop app in plain Node like Electron: `node run.ts [arguments of the app]`, with the app's
 * folder in STAND_IN_APP and, for a packed app, its resources in STAND_IN_RESOURCES.
 * Over Node's channel to its parent process a test can run functions in the main process, as Playwright does
 * in Electron's.
 */
import { readFileSync } from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import threads from 'node:worker_threads';

const STAND_IN = pathToFileURL(join(import.meta.dirname, 'electron.ts')).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: STAND_IN, shortCircuit: true } : next(specifier, context),
});

/** Threads that have started and not ended, for tests of the ways to quit. */
const openThreads = new Set<object>();
class CountedWorker extends threads.Worker {
  constructor(...args: ConstructorParameters<typeof threads.Worker>) {
    super(...args);
    openThreads.add(this);
    this.once('exit', () => openThreads.delete(this));
  }
}
threads.Worker = CountedWorker;
syncBuiltinESMExports();

const folder = process.env['STAND_IN_APP'];
if (folder === undefined) throw new Error('STAND_IN_APP names no app');
const resources = process.env['STAND_IN_RESOURCES'];
if (resources !== undefined) Object.defineProperty(process, 'resourcesPath', { value: resources });

const electron = await import('./electron.ts');

// Electron shows a dialog for the first and warns about the second; for a test both are failures.
process.on('uncaughtException', (reason) => {
  process.stderr.write(`UNCAUGHT EXCEPTION ${reason.stack ?? reason.message}\n`);
});
process.on('unhandledRejection', (reason) => {
  process.stderr.write(`UNHANDLED REJECTION ${reason instanceof Error ? reason.stack : String(reason)}\n`);
});
// Chromium quits the app at the first of these signals and leaves the second to the system. Node's own
// handlers, set once the app is ready, replace Chromium's (observed in a real Electron 9).
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  const quit = (): void => {
    if (process.listenerCount(signal) > 1) return;
    process.off(signal, quit);
    electron.app.quit();
  };
  process.on(signal, quit);
}

electron.app.on('quit', () => {
  process.stderr.write(`THREADS AT QUIT ${openThreads.size}\n`);
});

process.on('message', ({ id, code, argument }: { id: number; code: string; argument: unknown }) => {
  void evaluate(code, argument).then(
    (value) => process.send?.({ id, value }),
    (reason: unknown) => process.send?.({ id, error: String(reason) }),
  );
});

async function evaluate(code: string, argument: unknown): Promise<unknown> {
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- a test's own function, sent as text
  const made = new Function(`return (${code})`) as () => (modules: object, argument: unknown) => unknown;
  return await made()(electron, argument);
}

const { main } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { main: string };
await import(pathToFileURL(join(folder, main)).href);
electron.app.loaded();
