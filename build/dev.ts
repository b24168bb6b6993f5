/**
 * `npm run dev`: serves the window with Vite, so that changes show at once, with a real engine behind it that restarts
 * whenever its sources change. The engine's inspector listens on Node's default port, 9229.
 *
 *   npm run dev -- --memory            uses the in-memory engine of the window's tests, without Python and files
 *   npm run dev -- -- --root FOLDER    passes what follows a second `--` to `virnucpro serve`
 */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { createServer, type CommonServerOptions } from 'vite';

const root = join(import.meta.dirname, '..');
const HOST = '127.0.0.1';
/** Editors write several files at once. */
const SETTLE_MS = 200;

const { values, positionals } = parseArgs({
  options: {
    memory: { type: 'boolean', default: false },
    port: { type: 'string', default: '5173' },
    'engine-port': { type: 'string', default: '4170' },
  },
  allowPositionals: true,
});
const engineAddress = `http://${HOST}:${values['engine-port']}`;
const command = values.memory
  ? [join(root, 'renderer', 'testing', 'serve.ts'), '--port', values['engine-port']]
  : [
      '--inspect',
      join(root, 'electron', 'cli', 'main.ts'),
      'serve',
      '--port',
      values['engine-port'],
      ...positionals,
    ];
const sources = (values.memory ? ['electron/contract', 'renderer/testing'] : ['electron']).map((folder) =>
  join(root, folder),
);

const vite = await createServer({
  configFile: join(root, 'renderer', 'vite.config.ts'),
  server: { host: HOST, port: Number(values.port), proxy: engineProxy() },
  clearScreen: false,
});
await vite.listen();
const windowAddress = `http://${HOST}:${vite.config.server.port}/`;
process.stdout.write(`The window, once the engine is ready: ${windowAddress}\n`);

let engine = startEngine();
let restarted = Promise.resolve();
let isEnding = false;
let timer: NodeJS.Timeout | undefined;
// Node's own --watch cannot be used: it sends its own messages through the threads of the run database, and the
// engine would take them for answers.
vite.watcher.add(sources).on('all', (_, file) => {
  if (!sources.some((folder) => file.startsWith(folder))) return;
  if (!file.endsWith('.ts') || file.endsWith('.test.ts')) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    restarted = restarted.then(restart);
  }, SETTLE_MS);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isEnding = true;
    engine.kill(signal);
    void Promise.all([restarted, engine]).then(() => vite.close());
  });
}

async function restart(): Promise<void> {
  engine.kill('SIGTERM');
  await engine;
  if (!isEnding) engine = startEngine();
}

/**
 * Forwards the page's requests to the engine under the page's own address, including the first one with the
 * token.
 */
function engineProxy(): NonNullable<CommonServerOptions['proxy']> {
  // The engine compares the page's address with the requested host, so it must receive the host of the page.
  const toEngine = { target: engineAddress, changeOrigin: false };
  return {
    '/rpc': { ...toEngine, ws: true },
    '/upload': toEngine,
    '/download': toEngine,
    '^/[?]token=': toEngine,
  };
}

function startEngine() {
  const subprocess = execa(process.execPath, command, {
    cwd: root,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    buffer: false,
    reject: false,
    // The engine needs time to pause a run first.
    forceKillAfterDelay: false,
  });
  createInterface(subprocess.stdout).on('line', (line) => {
    process.stdout.write(`${line.replaceAll(`${engineAddress}/`, windowAddress)}\n`);
  });
  void subprocess.then(() => {
    if (!isEnding) process.stdout.write('The engine ended; a change of its sources starts it again.\n');
  });
  return subprocess;
}
