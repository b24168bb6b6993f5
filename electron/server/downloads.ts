import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DownloadOffers } from '../engine/index.ts';

const KEPT_MS = 60 * 60_000;

/** Exports that wait to be fetched, each under an address that can't be guessed, for an hour. */
export class Downloads implements DownloadOffers {
  private readonly folder: string;
  private readonly offered = new Map<string, string>();
  private readonly timers = new Set<NodeJS.Timeout>();

  constructor(folder: string) {
    this.folder = folder;
  }

  readonly place = async (suggestedName: string): Promise<string> => {
    const folder = join(this.folder, newId());
    await mkdir(folder, { recursive: true });
    return join(folder, suggestedName);
  };

  readonly offer = (path: string): string => {
    const id = newId();
    this.offered.set(id, path);
    const timer = setTimeout(() => {
      this.offered.delete(id);
      this.timers.delete(timer);
      void rm(join(path, '..'), { recursive: true, force: true });
    }, KEPT_MS).unref();
    this.timers.add(timer);
    return `/download/${id}/${encodeURIComponent(basename(path))}`;
  };

  async send(id: string, response: ServerResponse): Promise<void> {
    const path = this.offered.get(id);
    const info = path === undefined ? undefined : await stat(path).catch(() => undefined);
    if (path === undefined || !info) {
      response.writeHead(404).end('This download is not there any more. Export again.');
      return;
    }
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': info.size,
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(basename(path))}`,
      'cache-control': 'no-store',
    });
    // A browser that goes away in the middle is no trouble of ours.
    await pipeline(createReadStream(path), response).catch(() => undefined);
  }

  /** Removes what was exported and not fetched. */
  async close(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    await rm(this.folder, { recursive: true, force: true });
  }
}

function newId(): string {
  return randomBytes(24).toString('base64url');
}
