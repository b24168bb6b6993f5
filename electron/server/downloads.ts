import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DownloadOffers } from '../engine/index.ts';

/** Windows lacks the last two. */
const FLAGS: Partial<Record<string, number>> = constants;
const OPEN_PLAIN = constants.O_RDONLY | (FLAGS['O_NOFOLLOW'] ?? 0) | (FLAGS['O_NONBLOCK'] ?? 0);
const KEPT_MS = 60 * 60_000;

/** Exports that wait for their download, each at an address that can't be guessed, for an hour. */
export class Downloads implements DownloadOffers {
  private readonly folder: string;
  private readonly offered = new Map<string, string>();
  private readonly timers = new Set<NodeJS.Timeout>();

  constructor(folder: string) {
    this.folder = folder;
  }

  readonly place = async (suggestedName: string): Promise<string> => {
    const folder = join(this.folder, newId());
    await mkdir(folder, { recursive: true, mode: 0o700 });
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

  /** `range`: the request's header if only the rest is wanted, as after an interruption. */
  async send(id: string, response: ServerResponse, range?: string): Promise<void> {
    const found = await this.open(id);
    if (!found) {
      response.writeHead(404).end('This download is not there any more. Export again.');
      return;
    }
    const { file, size, path } = found;
    const start = Number(/^bytes=(\d{1,15})-$/.exec(range ?? '')?.[1] ?? 0);
    if (start > size) {
      await file.close();
      response.writeHead(416, { 'content-range': `bytes */${size}` }).end();
      return;
    }
    response.writeHead(start > 0 ? 206 : 200, {
      'content-type': 'application/octet-stream',
      'content-length': size - start,
      ...(start > 0 ? { 'content-range': `bytes ${start}-${size - 1}/${size}` } : {}),
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(basename(path))}`,
      'cache-control': 'no-store',
    });
    // A browser that disconnects midway is no error of the server.
    await pipeline(file.createReadStream({ start }), response).catch(() => undefined);
  }

  /** Sends the SHA-256 of an offered file, so that the receiver can check its download. */
  async sendDigest(id: string, response: ServerResponse): Promise<void> {
    const found = await this.open(id);
    if (!found) {
      response.writeHead(404).end();
      return;
    }
    const hash = createHash('sha256');
    await pipeline(found.file.createReadStream(), hash);
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ sha256: hash.digest('hex') }));
  }

  private async open(id: string): Promise<{ path: string; file: FileHandle; size: number } | undefined> {
    const path = this.offered.get(id);
    if (path === undefined) return undefined;
    // A run's folder may belong to somebody else, so a link that replaced the file is not followed.
    const file = await open(path, OPEN_PLAIN).catch(() => undefined);
    const info = await file?.stat();
    if (file && info?.isFile()) return { path, file, size: info.size };
    await file?.close();
    return undefined;
  }

  /** Removes exports that were not downloaded. */
  async close(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    await rm(this.folder, { recursive: true, force: true });
  }
}

function newId(): string {
  return randomBytes(24).toString('base64url');
}
