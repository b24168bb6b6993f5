/**
 * Serves the built window with the memory engine behind it, over the transport of browser mode, to look at the
 * window and to measure it: `node renderer/testing/serve.ts [--port 4170]`.
 */
import { RPCHandler } from '@orpc/server/ws';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WebSocketServer } from 'ws';
import { createMemoryEngine, type MemoryEngineOptions } from './memoryEngine/index.ts';

const PAGE = fileURLToPath(new URL('../../dist/renderer/', import.meta.url));
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};
/** The policy of the product, so that whatever it forbids fails here too. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self' ws://127.0.0.1:*; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export async function serveMemoryEngine(options: MemoryEngineOptions & { port?: number } = {}): Promise<
  Pick<ReturnType<typeof createMemoryEngine>, 'changeRun' | 'runs'> & {
    url: string;
    server: Server;
    stop(): Promise<void>;
  }
> {
  const engine = createMemoryEngine(options);
  const handler = new RPCHandler(engine.router);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (request.method === 'PUT' && pathname.startsWith('/upload/')) {
      request.resume();
      request.on('end', () => {
        const name = decodeURIComponent(pathname.slice('/upload/'.length));
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ path: `/data/uploads/${name}` }));
      });
      return;
    }
    const file = join(PAGE, normalize(pathname === '/' ? '/index.html' : pathname));
    readFile(file).then(
      (content) => {
        response.writeHead(200, {
          'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
          'content-security-policy': POLICY,
        });
        response.end(content);
      },
      () => {
        response.writeHead(404);
        response.end();
      },
    );
  });
  const sockets = new WebSocketServer({ server, path: '/rpc' });
  sockets.on('connection', (socket) => void handler.upgrade(socket, { context: engine.context }));
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    server,
    changeRun: engine.changeRun,
    runs: engine.runs,
    async stop() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      await new Promise((resolve) => server.close(resolve));
      await engine.close();
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '4170' } } });
  const { url } = await serveMemoryEngine({ port: Number(values.port) });
  process.stdout.write(`Memory engine at ${url}\n`);
}
