import type { IncomingMessage, ServerResponse } from 'node:http';
import { pageFile, pageHeaders } from '../engine/index.ts';
import type { Downloads } from './downloads.ts';
import { isOurHost, isOurOrigin } from './requestGuard.ts';
import { receiveUpload } from './uploads.ts';
import type { WindowSessions } from './windowSessions.ts';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

interface AnswerParts {
  /** The names besides the loopback ones by which browsers may call it. */
  ownNames: readonly string[];
  pageFolder: string;
  uploadsFolder: string;
  downloads: Downloads;
  sessions: WindowSessions;
  /** Answers clients that ask whether this is the right server. */
  about: () => { version: string; atWork: boolean };
  /** Called when a token has been used. */
  entered: () => void;
}

/** Answers plain requests: the entrance, the window's files, uploads and downloads. */
export class RequestAnswers {
  private readonly parts: AnswerParts;

  constructor(parts: AnswerParts) {
    this.parts = parts;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const host = request.headers.host ?? '';
    if (!isOurHost(host, this.parts.ownNames)) {
      response.writeHead(403).end('This server is not called by that name.');
      return;
    }
    for (const [name, value] of Object.entries(pageHeaders([`ws://${host}`, `wss://${host}`]))) {
      response.setHeader(name, value);
    }
    // After a refusal the client may never send the rest of its body, so the connection closes with the
    // answer.
    if (!isRead(request)) response.setHeader('connection', 'close');
    const url = new URL(request.url ?? '/', 'http://localhost');
    const [, area = ''] = url.pathname.split('/');
    if (isWindowsArea(area)) {
      await this.answerWindow(area, url, request, response);
    } else if (!isRead(request)) {
      response.writeHead(405).end();
    } else if (!this.enter(url, response)) {
      await sendPageFile(this.parts.pageFolder, url.pathname, request, response);
    }
  }

  /** The status with which a socket is refused; undefined if it may be opened. */
  refuseSocket({ headers, url }: IncomingMessage): number | undefined {
    const { host, origin, cookie } = headers;
    if (!isOurHost(host, this.parts.ownNames) || !isOurOrigin({ host, origin })) return 403;
    if (!this.parts.sessions.knows(cookie)) return 401;
    return url === '/rpc' ? undefined : 404;
  }

  /** Answers what only an admitted window may request. */
  private async answerWindow(
    area: WindowsArea,
    url: URL,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const [, , name = ''] = url.pathname.split('/');
    if (!this.parts.sessions.knows(request.headers.cookie)) {
      response.writeHead(401).end('Open the address that the server printed.');
    } else if (area === 'download' && isRead(request)) {
      if (url.searchParams.has('digest')) await this.parts.downloads.sendDigest(name, response);
      else await this.parts.downloads.send(name, response, request.headers.range);
    } else if (area === 'about' && isRead(request)) {
      sendJson(response, 200, this.parts.about());
    } else if (area === 'upload' && request.method === 'PUT') {
      await this.upload(name, request, response);
    } else {
      response.writeHead(area === 'rpc' ? 426 : 405).end();
    }
  }

  /** Accepts the token of the printed address, if there is a valid one. */
  private enter(url: URL, response: ServerResponse): boolean {
    const token = url.pathname === '/' ? url.searchParams.get('token') : null;
    const cookie = token === null ? undefined : this.parts.sessions.enter(token);
    if (cookie === undefined) return false;
    sendEntrance(response, cookie);
    this.parts.entered();
    return true;
  }

  private async upload(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isFromOurPage(request)) {
      response.writeHead(403).end();
      return;
    }
    const received = await receiveUpload(this.parts.uploadsFolder, decoded(name), request);
    if (received.ok) sendJson(response, 201, { path: received.value });
    else sendJson(response, 507, { error: received.error });
  }
}

const WINDOWS_AREAS = ['rpc', 'upload', 'download', 'about'] as const;
type WindowsArea = (typeof WINDOWS_AREAS)[number];

function isWindowsArea(area: string): area is WindowsArea {
  return (WINDOWS_AREAS as readonly string[]).includes(area);
}

function isFromOurPage({ headers: { host, origin } }: IncomingMessage): boolean {
  return isOurOrigin({ host, origin });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function isRead(request: IncomingMessage): boolean {
  return request.method === 'GET' || request.method === 'HEAD';
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const UNCHANGING = 'public, max-age=31536000, immutable';

/** Sends a file of the built window. */
export async function sendPageFile(
  folder: string,
  urlPath: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const file = pageFile(folder, urlPath);
  const info = file && (await stat(file.path).catch(() => undefined));
  if (!file || !info?.isFile()) {
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('Not found');
    return;
  }
  response.writeHead(200, {
    'content-type': file.contentType,
    'content-length': info.size,
    'cache-control': file.immutable ? UNCHANGING : 'no-cache',
  });
  if (request.method === 'HEAD') response.end();
  else await pipeline(createReadStream(file.path), response).catch(() => undefined);
}

/**
 * Answers the printed address: sets the cookie and leads to the window. This is a page that forwards, not a
 * redirect: a browser that came from another site would not send the new cookie with a redirect.
 */
export function sendEntrance(response: ServerResponse, cookie: string): void {
  response
    .writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'set-cookie': cookie,
    })
    .end('<!doctype html><title>VirNucPro Desktop</title><meta http-equiv="refresh" content="0;url=./">');
}
