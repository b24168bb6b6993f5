import { isMainThread } from 'node:worker_threads';
import { runStoreHost } from '../engine/index.ts';
import { runCommandLine } from './commandLine.ts';

// The same file serves as the entry of the store's threads, so that a bundle of everything is one file.
if (isMainThread) process.exitCode = await runCommandLine(process.argv, new URL(import.meta.url));
else runStoreHost();
