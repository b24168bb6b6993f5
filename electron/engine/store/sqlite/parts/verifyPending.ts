import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { openPlain, pathInRun } from '../../../files/runFiles.ts';
import { isFileError } from '../files/partFile.ts';
import { MOST_BYTES } from '../files/safetensorsFile.ts';
import { partPath } from './partRows.ts';

/** Keys of pending parts whose file is missing or has another hash. Files shared by bisected parts are read once. */
export function verifyPendingParts(db: Database.Database, folder: string): string[] {
  const pending = db
    .prepare<[], { key: string; sha256: string }>(
      `SELECT key, sha256 FROM part WHERE state = 'pending' ORDER BY number, key`,
    )
    .all();
  const hashes = new Map<string, string | null>();
  return pending
    .filter(({ key, sha256 }) => {
      const path = partPath(key);
      if (!hashes.has(path)) hashes.set(path, hashOf(folder, path));
      return hashes.get(path) !== sha256;
    })
    .map(({ key }) => key);
}

function hashOf(folder: string, name: string): string | null {
  const hash = createHash('sha256');
  const block = Buffer.alloc(1 << 20);
  let descriptor: number | null = null;
  try {
    descriptor = openPlain(pathInRun(folder, name), 'read');
    if (fstatSync(descriptor).size > MOST_BYTES) return null;
    for (let n = readSync(descriptor, block); n > 0; n = readSync(descriptor, block))
      hash.update(block.subarray(0, n));
    return hash.digest('hex');
  } catch (error) {
    if (isFileError(error)) return null;
    throw error;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
