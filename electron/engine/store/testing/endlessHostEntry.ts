/**
 * Entry of a store thread that gets stuck in SQLite: for a run's reader when it is opened, for a writer at
 * its first call. The file `stuck` in the run's folder announces it a moment before. A folder called
 * `refused` is refused.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, threadId, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import type { StoreReply, StoreThreadData } from '../storeThread.ts';

const { virnucproStore: task } = workerData as StoreThreadData;

/** Waits within SQLite, without using the processor, for a lock that is never released. */
function neverEnds(folder: string): void {
  const file = join(folder, `locked-${threadId}.db`);
  new Database(file).exec('BEGIN EXCLUSIVE');
  const waiting = new Database(file, { timeout: 0x7fffffff });
  writeFileSync(join(folder, 'stuck'), '');
  waiting.exec('BEGIN EXCLUSIVE');
}

if (task.store === 'library' || task.folder.endsWith('refused')) {
  await import('../hostEntry.ts');
  // Keeps the thread from ending by itself.
  setInterval(() => undefined, 1_000);
} else if (task.role === 'reader') neverEnds(task.folder);
else {
  parentPort?.on('message', () => {
    neverEnds(task.folder);
  });
  parentPort?.postMessage({ type: 'opened', journal: 'wal', names: {} } satisfies StoreReply);
}
