import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppFailure, appFailure } from '../../contract/errors.ts';
import { message, type Message } from '../../contract/messages.ts';
import { replaceFile } from '../system/replaceFile.ts';
import { isProcessAlive } from '../system/liveProcess.ts';

const BLOCK_BYTES = 1 << 20;

/**
 * A temporary name beside a path that identifies the writing process: a program that was killed cannot clean
 * up.
 */
export function unfinishedName(path: string): string {
  return `${path}.${process.pid}-${randomUUID().slice(0, 8)}.tmp`;
}

/** Removes what dead programs left beside a path. */
async function removeAbandoned(path: string): Promise<void> {
  const folder = dirname(path);
  for (const name of await readdir(folder)) {
    if (!name.startsWith(`${basename(path)}.`)) continue;
    const pid = /^\.(\d+)-[0-9a-f]{8}\.tmp$/.exec(name.slice(basename(path).length))?.[1];
    if (pid === undefined || isProcessAlive(Number(pid))) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

/**
 * A file that appears complete or not at all: written under a temporary name beside its place, flushed, then
 * renamed.
 */
export class WholeFile {
  private readonly path: string;
  private readonly temporary: string;
  private handle: FileHandle;
  private pending: Uint8Array[] = [];
  private pendingBytes = 0;
  private written = 0;

  private constructor(path: string, temporary: string, handle: FileHandle) {
    this.path = path;
    this.temporary = temporary;
    this.handle = handle;
  }

  /**
   * Writes a file with `fill`; an error there, or a place that can't be written to, leaves nothing behind.
   * Returns the file's size in bytes.
   */
  static async write(path: string, fill: (file: WholeFile) => Promise<void>): Promise<number> {
    const temporary = unfinishedName(path);
    let file: WholeFile | undefined;
    try {
      await mkdir(dirname(path), { recursive: true });
      await removeAbandoned(path);
      file = new WholeFile(path, temporary, await open(temporary, 'wx'));
      await fill(file);
      return await file.publish();
    } catch (reason) {
      await file?.handle.close().catch(() => undefined);
      if (file) await rm(temporary, { force: true });
      throw explained(path, reason);
    }
  }

  async write(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
    this.pending.push(bytes);
    this.pendingBytes += bytes.length;
    if (this.pendingBytes >= BLOCK_BYTES) await this.flush();
  }

  /** Lets another writer, which opens the file itself, write all of it. */
  async fillByPath(fill: (temporary: string) => Promise<void>): Promise<void> {
    await this.handle.close();
    try {
      await fill(this.temporary);
    } catch (reason) {
      throw isFullWhere(this.temporary, reason) ? noSpaceFor(this.path) : reason;
    }
    this.handle = await open(this.temporary, 'r+');
    this.written = (await this.handle.stat()).size;
  }

  private async flush(): Promise<void> {
    const { pending } = this;
    this.pending = [];
    this.pendingBytes = 0;
    const block = pending.length === 1 ? pending[0]! : Buffer.concat(pending);
    for (let done = 0; done < block.length;)
      done += (await this.handle.write(block, done, block.length - done)).bytesWritten;
    this.written += block.length;
  }

  private async publish(): Promise<number> {
    await this.flush();
    await this.handle.sync();
    await this.handle.close();
    replaceFile(this.temporary, this.path);
    return this.written;
  }
}

/** A sort that spills may fill another disk. */
function isFullWhere(path: string, reason: unknown): boolean {
  return (
    reason instanceof AppFailure && reason.error.code === 'disk_full' && !!reason.error.detail?.includes(path)
  );
}

const REASONS: Readonly<Record<string, Message>> = {
  ENOENT: message('reason.no_folder'),
  EACCES: message('reason.not_allowed'),
  EPERM: message('reason.not_allowed'),
  EROFS: message('reason.read_only'),
  ENOTDIR: message('reason.file_in_path'),
  EISDIR: message('reason.is_folder'),
};

function explained(path: string, reason: unknown): unknown {
  if (!(reason instanceof Error) || !('code' in reason) || !('syscall' in reason)) return reason;
  const code = String(reason.code);
  if (code === 'ENOSPC' || code === 'EDQUOT') return noSpaceFor(path);
  return appFailure(
    'folder_unwritable',
    message('place.refused', { path, reason: REASONS[code] ?? reason.message }),
    { nextStep: message('place.elsewhere') },
  );
}

export function noSpaceFor(path: string): AppFailure {
  return appFailure('disk_full', message('place.full_for', { path }));
}
