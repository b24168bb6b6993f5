import type { IncomingMessage, ServerResponse } from 'node:http';
import { pageHeaders } from '../engine/index.ts';
import type { Downloads } from './downloads.ts';
import { sendEntrance, sendPageFile } from './pageServer.ts';
import { isOurHost, isOurOrigin } from './requestGuard.ts';
import { receiveUpload } from './uploads.ts';
import type { WindowSessions } from './windowSessions.ts';

export interface AnswerParts {
  /** Beside the loopback names: what the server listens on. */
  ownName: string;
  pageFolder: string;
  uploadsFolder: string;
  downloads: Downloads;
  sessions: WindowSessions;
  /** A token has been used. */
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
    if (!isOurHost(host, [this.parts.ownName])) {
      response.writeHead(403).end('This server is not called by that name.');
      return;
    }
    for (const [name, value] of Object.entries(pageHeaders([`ws://${host}`, `wss://${host}`]))) {
      response.setHeader(name, value);
    }
    const url = new URL(request.url ?? '/', 'http://localhost');
    const [, area = '', name = ''] = url.pathname.split('/');
    if (area === 'rpc' || area === 'upload' || area === 'download') {
      await this.answerWindow(area, name, request, response);
    } else if (!isRead(request)) {
      response.writeHead(405).end();
    } else if (!this.enter(url, response)) {
      await sendPageFile(this.parts.pageFolder, url.pathname, request, response);
    }
  }

  /** Why a socket isn't opened; nothing where it may be. */
  refuseSocket({ headers, url }: IncomingMessage): number | undefined {
    const { host, origin, cookie } = headers;
    if (!isOurHost(host, [this.parts.ownName]) || !isOurOrigin({ host, origin })) return 403;
    if (!this.parts.sessions.knows(cookie)) return 401;
    return url === '/rpc' ? undefined : 404;
  }

  /** What only a window that was let in may have. */
  private async answerWindow(
    area: 'rpc' | 'upload' | 'download',
    name: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (!this.parts.sessions.knows(request.headers.cookie)) {
      response.writeHead(401).end('Open the address that the server printed.');
    } else if (area === 'download' && isRead(request)) {
      await this.parts.downloads.send(name, response);
    } else if (area === 'upload' && request.method === 'PUT') {
      await this.upload(name, request, response);
    } else {
      response.writeHead(area === 'rpc' ? 426 : 405).end();
    }
  }

  /** Takes the token of the printed address, if there is one and it is good. */
  private enter(url: URL, response: ServerResponse): boolean {
    const token = url.pathname === '/' ? url.searchParams.get('token') : null;
    const cookie = token === null ? undefined : this.parts.sessions.enter(token);
    if (cookie === undefined) return false;
    sendEntrance(response, cookie);
    this.parts.entered();
    return true;
  }

  private async upload(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isOurOrigin({ host: request.headers.host, origin: request.headers.origin })) {
      response.writeHead(403).end();
      return;
    }
    const received = await receiveUpload(this.parts.uploadsFolder, decoded(name), request);
    const body = JSON.stringify(received.ok ? { path: received.value } : { error: received.error });
    response
      .writeHead(received.ok ? 201 : 507, { 'content-type': 'application/json', connection: 'close' })
      .end(body);
  }
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
