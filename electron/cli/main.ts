import { isMainThread } from 'node:worker_threads';
import { runStoreHost, threadsLeft } from '../engine/index.ts';
import { runCommandLine } from './commandLine.ts';

// The same file serves as the entry of the store's threads, so that a bundle of everything is one file.
if (isMainThread) {
  process.exitCode = await runCommandLine(process.argv, new URL(import.meta.url));
  // A thread that can't be ended would keep the process from ending, and what was to be said has been.
  if (threadsLeft() > 0) process.kill(process.pid, 'SIGKILL');
} else runStoreHost();
