import { isMainThread } from 'node:worker_threads';
import { serveQuery } from './duckdb/queryHost.ts';
import { serveStore } from './storeThread.ts';
import { describeStoreError } from './sqlite/database.ts';
import { openLibrary } from './sqlite/libraryDatabase.ts';
import { openRunReader, openRunWriter } from './runDatabase.ts';

if (isMainThread)
  serveQuery({
    // The program that asks has checked the database.
    open: (folder, sound) => openRunReader(folder, true, sound).step,
    describeError: describeStoreError,
  });
else
  serveStore({
    open: (task) => {
      if (task.store === 'library') return { groups: { all: openLibrary(task.path) }, journal: 'wal' };
      if (task.role === 'reader') return { groups: openRunReader(task.folder, task.known), journal: 'wal' };
      return openRunWriter(task.folder, task.create);
    },
    describeError: describeStoreError,
  });
