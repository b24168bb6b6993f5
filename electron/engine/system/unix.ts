import { posix } from 'node:path';
import type { System } from './types.ts';

/** What Linux and macOS have in common. */
export const UNIX = {
  interpreterIn: (environment) => posix.join(environment, 'bin', 'python'),
  // The disk says so itself.
  longestPath: Number.POSITIVE_INFINITY,
  renamePausesMs: [],
  syncsFolders: true,
  sharesSsh: true,
} satisfies Partial<System>;
