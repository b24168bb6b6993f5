import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { pageFile } from '../engine/index.ts';

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
 * Answer to the printed address: sets the cookie and goes on to the window. A page that goes on by itself, not a redirect:
 * a browser that came from another site would not send the new cookie with a redirect.
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
