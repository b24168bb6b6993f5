import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { openLibrary } from './libraryDatabase.ts';
import { openRunReader, openRunWriter } from './runDatabase.ts';
import { describeStoreError } from './database.ts';
import { interruptDuckDb } from '../duckdb/duckdb.ts';
import {
  allOf,
  type Journal,
  LEAVE,
  type StoreMethods,
  type StoreReply,
  type StoreRequest,
  type StoreTask,
  type StoreThreadData,
} from '../storeProtocol.ts';

interface OpenedStore {
  groups: Record<string, StoreMethods>;
  journal: Journal;
}

/** Entry of a store thread: opens its database and answers one request after the other. */
export function runStoreHost(): void {
  const task = storeTask();
  const port = parentPort;
  if (!task || !port) throw new Error('runStoreHost() belongs into a thread started by the store.');
  const reply = (message: StoreReply) => port.postMessage(message);
  const folder = task.store === 'run' ? task.folder : dirname(task.path);

  let store: OpenedStore;
  try {
    store = openStore(task);
  } catch (error) {
    reply({ type: 'refused', error: describeStoreError(error, folder) });
    return;
  }
  const groups = Object.entries(store.groups);
  const methods: StoreMethods = allOf(store.groups);
  const names = Object.fromEntries(groups.map(([group, of]) => [group, Object.keys(of)]));
  reply({ type: 'opened', journal: store.journal, names });
  async function answer(request: StoreRequest): Promise<void> {
    try {
      reply({ type: 'result', id: request.id, value: await invoke(methods, request) });
    } catch (error) {
      reply({ type: 'error', id: request.id, error: describeStoreError(error, folder) });
    }
  }
  // Requests run one after the other: a DuckDB query is answered later, and must not see what the next
  // request changes.
  let last = Promise.resolve();
  let isLeaving = false;
  port.on('message', (request: StoreRequest | typeof LEAVE) => {
    if (request !== LEAVE) {
      last = last.then(() => (isLeaving ? undefined : answer(request)));
      return;
    }
    isLeaving = true;
    interruptDuckDb();
    reply({ type: 'leaving' });
    // Waits for DuckDB's answer: an answer to a terminated thread ends the whole process.
    last = last
      .then(async () => {
        await methods['close']?.();
      })
      .catch(() => undefined)
      .then(() => process.exit());
  });
}

function openStore(task: StoreTask): OpenedStore {
  if (task.store === 'library') return { groups: { all: openLibrary(task.path) }, journal: 'wal' };
  if (task.role === 'reader') return { groups: openRunReader(task.folder, task.known), journal: 'wal' };
  return openRunWriter(task.folder, task.create);
}

function invoke(methods: StoreMethods, request: StoreRequest): unknown {
  const method = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
  if (!method) throw new Error(`The store has no method ${request.method}.`);
  // StoreThread.call types the arguments by this same table.
  return (method as (...args: unknown[]) => unknown)(...request.args);
}

function storeTask(): StoreTask | null {
  const data: unknown = workerData;
  if (typeof data !== 'object' || data === null || !('virnucproStore' in data)) return null;
  return (data as StoreThreadData).virnucproStore;
}
