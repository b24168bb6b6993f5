import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DownloadOffers } from '../engine/index.ts';

/** Windows has neither of the last two. */
const FLAGS: Partial<Record<string, number>> = constants;
const OPEN_PLAIN = constants.O_RDONLY | (FLAGS['O_NOFOLLOW'] ?? 0) | (FLAGS['O_NONBLOCK'] ?? 0);
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

  readonly offer = (path: string): string =>
    this.keep(path, () => void rm(join(path, '..'), { recursive: true, force: true }));

  readonly lend = (path: string): string => this.keep(path, () => undefined);

  private keep(path: string, afterwards: () => void): string {
    const id = newId();
    this.offered.set(id, path);
    const timer = setTimeout(() => {
      this.offered.delete(id);
      this.timers.delete(timer);
      afterwards();
    }, KEPT_MS).unref();
    this.timers.add(timer);
    return `/download/${id}/${encodeURIComponent(basename(path))}`;
  }

  async send(id: string, response: ServerResponse): Promise<void> {
    const path = this.offered.get(id);
    // A run's folder may be somebody else's: what is a link by now is not followed.
    const file = path === undefined ? undefined : await open(path, OPEN_PLAIN).catch(() => undefined);
    const info = await file?.stat();
    if (path === undefined || !file || !info?.isFile()) {
      await file?.close();
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
    await pipeline(file.createReadStream(), response).catch(() => undefined);
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
