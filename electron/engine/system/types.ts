import { posix } from 'node:path';

/**
 * What the engine does differently on Linux, Windows and macOS. No other part of the engine checks which
 * system it runs on.
 */
export interface System {
  readonly platform: NodeJS.Platform;
  /** The folder in which a user's programs keep their data. */
  dataFolder: (env: NodeJS.ProcessEnv, home: string) => string;
  /** Path of the interpreter in a virtual environment of Python. */
  interpreterIn: (environment: string) => string;
  /** Path of NVIDIA's tool; null on systems without NVIDIA GPUs. */
  nvidiaSmi: (env: NodeJS.ProcessEnv) => string | null;
  /** The number 14 means macOS 14; null on other systems. */
  macosMajor: () => number | null;
  /** Whether the C library of this Linux is musl, as on Alpine. */
  hasMusl: () => boolean;
  /**
   * Length of the longest path in characters that Python and SQLite can open here. Node opens longer ones.
   */
  readonly longestPath: number;
  /** Pauses before each further attempt to rename a file that another program may have open. */
  readonly renamePausesMs: readonly number[];
  /** Whether a separate call is needed to make a folder's entries durable. */
  readonly syncsFolders: boolean;
  /**
   * Whether OpenSSH's client can share one connection among several commands, and ask for passwords through
   * our program.
   */
  readonly sharesSsh: boolean;
  /**
   * Name of the network file system that holds an existing folder; null for a local disk. Throws the system's
   * error if the folder cannot be reached.
   */
  networkFileSystem: (folder: string) => string | null;
  /** Throws or returns null if there is no such process, or if the system cannot tell cheaply (Windows). */
  processEntry: (pid: number) => ProcessEntry | null;
  /**
   * Has the system refuse this process more memory than that. Linux counts what can be written to, unlike the
   * address space, of which V8 reserves far more than it uses. macOS and Windows have no such limit that a
   * program could set for itself. Throws if it cannot be set.
   */
  limitOwnMemory: (bytes: number) => void;
}

export interface ProcessEntry {
  /** One letter, as printed by `ps`. */
  state: string;
  /** Start of the process, usable only for comparisons. */
  start: string;
}

/** What Linux and macOS have in common. */
export const UNIX = {
  interpreterIn: (environment) => posix.join(environment, 'bin', 'python'),
  // The disk itself reports a path that is too long.
  longestPath: Number.POSITIVE_INFINITY,
  renamePausesMs: [],
  syncsFolders: true,
  sharesSsh: true,
  limitOwnMemory: () => undefined,
} satisfies Partial<System>;
