import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import type Database from 'better-sqlite3';

const ROWS_PER_WRITE = 65536;

/** Writes the rows called virus, ascending, as little-endian U32; the file appears whole. Answers with how many. */
export function writeViralRows(db: Database.Database, path: string): number {
  const rows = db
    .prepare<[], number>(`SELECT row FROM sequence WHERE prediction = 'virus' ORDER BY row`)
    .pluck();
  const temporary = `${path}.tmp`;
  const descriptor = openSync(temporary, 'w');
  const block = Buffer.alloc(4 * ROWS_PER_WRITE);
  let count = 0;
  let filled = 0;
  const flush = () => {
    for (let done = 0; done < filled;) done += writeSync(descriptor, block, done, filled - done);
    filled = 0;
  };
  try {
    for (const row of rows.iterate()) {
      filled = block.writeUInt32LE(row, filled);
      count++;
      if (filled === block.length) flush();
    }
    flush();
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, path);
  return count;
}
