import { isMainThread } from 'node:worker_threads';
import { endByForce, runStoreHost, threadsLeft } from '../engine/index.ts';
import { runCommandLine } from './commandLine.ts';

// The same file serves as the entry of the store's threads, so that a bundle of everything is one file.
if (isMainThread) {
  // Of this process, whose first line sets it; Python's threads allocate far more.
  delete process.env['MALLOC_ARENA_MAX'];
  process.exitCode = await runCommandLine(process.argv, new URL(import.meta.url));
  // A thread that cannot be ended would keep the process alive, and everything has been printed.
  if (threadsLeft() > 0) endByForce();
} else runStoreHost();
