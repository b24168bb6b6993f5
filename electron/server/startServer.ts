import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import type { Duplex } from 'node:stream';
import { join } from 'node:path';
import { RPCHandler } from '@orpc/server/ws';
import { WebSocketServer, type WebSocket } from 'ws';
import { appError, AppFailure, appFailure, usage } from '../contract/errors.ts';
import { serviceRouter, uploadsFolder, type Service, type WindowContext } from '../engine/index.ts';
import { Downloads } from './downloads.ts';
import { removeLeftovers } from './uploads.ts';
import { RequestAnswers } from './requestAnswers.ts';
import { isAnyAddress, isLoopbackName, isSameComputer, ownNames, rootPolicy } from './requestGuard.ts';
import { WindowSessions } from './windowSessions.ts';

const LARGEST_MESSAGE_BYTES = 16 * 1024 * 1024;
/** A dead tunnel does not close the socket, so it is pinged. */
const PING_INTERVAL_MS = 30_000;
/** A window that stops receiving must not fill the memory. */
const MOST_UNSENT_BYTES = 64 * 1024 * 1024;
const HEADERS_WITHIN_MS = 60_000;
const GOING_AWAY = 1001;

export interface ServerOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** The folder that windows may access. */
  root: string;
  /** The built window: dist/renderer. */
  pageFolder: string;
  /** Listens beyond this computer; the user must have asked for it. */
  allowNetwork: boolean;
  /** The name of an encrypting proxy through which browsers reach the server. */
  publicName?: string | undefined;
  /** Called when a token has been used: the next browser needs this address. */
  onNewAddress: (address: string) => void;
}

export interface RunningServer {
  readonly port: number;
  /** The address with the token that admits one browser. */
  readonly address: () => string;
  /** Returns a cookie that gives its owner this user's access for as long as this server runs. */
  readonly letIn: () => string;
  /** The number of connected windows. */
  readonly windows: () => number;
  readonly close: () => Promise<void>;
}

/** Browser mode: the window over HTTP, the contract over a WebSocket, for this computer or through a tunnel. */
export async function startServer(service: Service, options: ServerOptions): Promise<RunningServer> {
  const { host, root, pageFolder, publicName } = options;
  if (!isLoopbackName(host) && !options.allowNetwork) {
    throw usage(
      `${host} can be reached by other computers.`,
      'Leave --host out, and use an SSH tunnel or a proxy that encrypts (--public-name). Or add --allow-network: then nothing is encrypted, and who can listen on the network can take over.',
    );
  }
  const { dataDir } = service.engine.paths;
  const downloads = new Downloads(join(dataDir, 'exports', String(process.pid)));
  const uploads = uploadsFolder(dataDir);
  const inputs = service.catalog.all().flatMap(({ plan }) => plan.inputs.map((input) => input.path));
  await Promise.all([removeLeftovers(uploads, inputs), removeLeftovers(join(dataDir, 'exports'), [])]);
  const paths = await rootPolicy(root);
  const contextOf = (remoteAddress: string | undefined): WindowContext => ({
    shell: 'browser',
    paths,
    downloads,
    // Requests through a proxy also come from this computer.
    sameComputer: publicName === undefined && isSameComputer(remoteAddress, process.env),
  });
  const handler = new RPCHandler(serviceRouter(service));
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: LARGEST_MESSAGE_BYTES,
    perMessageDeflate: false,
  });

  // An upload may take any time; Node would abort it after five minutes.
  // A static import would load Node's web client with every command.
  const { createServer } = await import('node:http');
  const server = createServer({ requestTimeout: 0, headersTimeout: HEADERS_WITHIN_MS });
  await listen(server, host, options.port);
  const { port } = server.address() as AddressInfo;
  const sessions = new WindowSessions(port, join(dataDir, 'window-sessions.json'), publicName !== undefined);
  const answers = new RequestAnswers({
    about: () => ({ version: service.engine.appVersion, atWork: service.control.queue.active !== null }),
    ownNames: ownNames(host, publicName),
    pageFolder,
    uploadsFolder: uploads,
    downloads,
    sessions,
    entered: () => {
      options.onNewAddress(address());
    },
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void answers.answer(request, response).catch(() => response.destroy());
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const refusal = answers.refuseSocket(request);
    if (refusal !== undefined) {
      refuseSocket(socket, refusal);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      keepAlive(webSocket);
      void handler.upgrade(webSocket, { context: { window: contextOf(request.socket.remoteAddress) } });
    });
  });
  const name = isAnyAddress(host) ? hostname() : host;
  const place =
    publicName === undefined
      ? `http://${name.includes(':') ? `[${name}]` : name}:${port}`
      : `https://${publicName}`;
  const address = (): string => `${place}/?token=${sessions.currentToken}`;

  return {
    port,
    address,
    letIn: () => sessions.letIn(),
    windows: () => sockets.clients.size,
    close: async () => {
      for (const socket of sockets.clients) socket.close(GOING_AWAY, 'The server has been stopped.');
      server.close();
      server.closeIdleConnections();
      await downloads.close();
    },
  };
}

class PortTaken extends AppFailure {
  constructor(port: number) {
    super(
      appError('usage', `Port ${port} is in use already.`, {
        nextStep: 'Choose another with --port, or --port 0 for any.',
      }),
    );
  }
}

export function isPortTaken(reason: unknown): boolean {
  return reason instanceof PortTaken;
}

function keepAlive(socket: WebSocket): void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const timer = setInterval(() => {
    if (!answered || socket.bufferedAmount > MOST_UNSENT_BYTES) {
      socket.terminate();
      return;
    }
    answered = false;
    socket.ping();
  }, PING_INTERVAL_MS);
  socket.on('close', () => {
    clearInterval(timer);
  });
  // The close event follows and is handled.
  socket.on('error', () => undefined);
}

function refuseSocket(socket: Duplex, status: number): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (reason: NodeJS.ErrnoException) => {
      if (reason.code === 'EADDRINUSE') {
        reject(new PortTaken(port));
        return;
      }
      const more = { nextStep: 'Choose another --host or --port.', detail: reason.message };
      reject(appFailure('usage', `${host}:${port} cannot be listened on.`, more));
    });
    server.listen(port, host, resolve);
  });
}
