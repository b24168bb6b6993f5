import { createWriteStream } from 'node:fs';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { appError, type AppError } from '../contract/errors.ts';
import { message } from '../contract/messages.ts';
import { err, ok, type Result } from '../contract/result.ts';
import { hashFile, replaceFile } from '../engine/index.ts';
import { atMost, lacksSpace, uploadError, uploadName } from './uploads.ts';

const PARTIAL = 'incoming.part';

interface SentFile {
  /** Chosen by the sender, the same for the same file. Also the name of its folder. */
  key: string;
  name: string;
  bytes: number;
}

interface SentState {
  received: number;
  /** Where the file is once it is complete. */
  path: string | null;
}

/** Files that arrive in as many pieces as the line breaks, and count only when their SHA-256 is right. */
export class ResumableUploads {
  private readonly folder: string;
  /** A piece of a broken connection may still be written when the next one comes. */
  private readonly receiving = new Map<string, { abort: AbortController; ended: Promise<unknown> }>();

  constructor(folder: string) {
    this.folder = folder;
  }

  async state(file: SentFile): Promise<Result<SentState>> {
    await this.endReceiving(file);
    const path = join(this.place(file), uploadName(file.name));
    if ((await sizeOf(path)) === file.bytes) return ok({ received: file.bytes, path });
    return ok({ received: (await sizeOf(this.partial(file))) ?? 0, path: null });
  }

  async receive(file: SentFile, offset: number, request: IncomingMessage): Promise<Result<SentState>> {
    await this.endReceiving(file);
    const here = (await sizeOf(this.partial(file))) ?? 0;
    // The sender asks again and goes on from there.
    if (offset !== here) return ok({ received: here, path: null });
    const full = await lacksSpace(this.folder, file.name, file.bytes - here);
    if (full) return err(full);
    await mkdir(this.place(file), { recursive: true, mode: 0o700 });
    const abort = new AbortController();
    const written = pipeline(
      request,
      atMost(file.bytes - here, file.name, request),
      createWriteStream(this.partial(file), { flags: 'a' }),
      { signal: abort.signal },
    );
    this.receiving.set(file.key, { abort, ended: written.catch(() => undefined) });
    try {
      await written;
    } catch (reason) {
      return err(uploadError(file.name, reason));
    } finally {
      if (this.receiving.get(file.key)?.abort === abort) this.receiving.delete(file.key);
    }
    return this.state(file);
  }

  /** Compares what has arrived, and gives it its name. */
  async finish(file: SentFile, sha256: string): Promise<Result<SentState>> {
    await this.endReceiving(file);
    const partial = this.partial(file);
    const path = join(this.place(file), uploadName(file.name));
    if (file.bytes === 0) {
      // It comes in no pieces.
      await mkdir(this.place(file), { recursive: true, mode: 0o700 });
      await writeFile(partial, '');
    }
    if ((await sizeOf(partial)) !== file.bytes) return this.state(file);
    if ((await hashFile(partial)) !== sha256) {
      await rm(this.place(file), { recursive: true, force: true });
      return err(damaged(file.name));
    }
    replaceFile(partial, path);
    return ok({ received: file.bytes, path });
  }

  private async endReceiving({ key }: SentFile): Promise<void> {
    const earlier = this.receiving.get(key);
    earlier?.abort.abort();
    await earlier?.ended;
  }

  private place({ key }: SentFile): string {
    return join(this.folder, key);
  }

  private partial(file: SentFile): string {
    return join(this.place(file), PARTIAL);
  }
}

function damaged(file: string): AppError {
  return appError('transfer_failed', message('transfer.damaged', { file }));
}

async function sizeOf(path: string): Promise<number | undefined> {
  const info = await stat(path).catch(() => undefined);
  return info?.isFile() ? info.size : undefined;
}
