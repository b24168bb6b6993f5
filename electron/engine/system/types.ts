import { posix } from 'node:path';

/** What the engine does differently on Linux, Windows and macOS. Nothing else in the engine asks which system it runs on. */
export interface System {
  readonly platform: NodeJS.Platform;
  /** Where a user's programs keep their data. */
  dataFolder: (env: NodeJS.ProcessEnv, home: string) => string;
  /** In a virtual environment of Python. */
  interpreterIn: (environment: string) => string;
  /** NVIDIA's tool; null where there are no GPUs of theirs. */
  nvidiaSmi: (env: NodeJS.ProcessEnv) => string | null;
  /** 14 is macOS 14; null elsewhere. */
  macosMajor: () => number | null;
  /** A Linux whose C library is musl, such as Alpine. */
  hasMusl: () => boolean;
  /** PyTorch can use AMD's GPUs here. */
  readonly usesAmd: boolean;
  /** Characters of the longest path that Python and SQLite open here. Node opens longer ones. */
  readonly longestPath: number;
  /** How long to wait before each further try to rename a file that another program may have open. */
  readonly renamePausesMs: readonly number[];
  /** A folder's entries are made durable by a call of their own. */
  readonly syncsFolders: boolean;
  /** OpenSSH's client here shares one connection among several commands, and asks through a program of ours. */
  readonly sharesSsh: boolean;
  /** Name of the network file system that holds an existing folder; null for a local disk. Raises what the system raises where
   * the folder can't be reached. */
  networkFileSystem: (folder: string) => string | null;
  /** Name of the program that copies what is written to a folder into a cloud, as far as its place tells; null elsewhere. */
  syncClient: (folder: string, env: NodeJS.ProcessEnv, home: string) => string | null;
  /** Whether an existing folder lies on a file system without a time of change that only the system sets. On Windows a file
   * without one shows it by a time of 0. */
  isFat: (folder: string) => boolean;
  /** Raises or answers null where there is no such process, or the system has no cheap way to tell (Windows). */
  processEntry: (pid: number) => ProcessEntry | null;
}

export interface ProcessEntry {
  /** One letter, as `ps` prints it. */
  state: string;
  /** When it was started, good only for comparing. */
  start: string;
}

/** What Linux and macOS have in common. */
export const UNIX = {
  interpreterIn: (environment) => posix.join(environment, 'bin', 'python'),
  // The disk says so itself.
  longestPath: Number.POSITIVE_INFINITY,
  renamePausesMs: [],
  syncsFolders: true,
  sharesSsh: true,
} satisfies Partial<System>;
