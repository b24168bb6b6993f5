import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppFailure, type AppError, appFailure, usage } from '../../../contract/errors.ts';
import type { QueryAnswer, QueryCell } from '../../../contract/rpc/results.ts';
import type { FileStamps } from '../checkedFiles.ts';

/*
 * DuckDB stops a query only between two of its steps, and does not count all of its memory. So a user's query
 * has a process of its own (queryHost.ts), which is killed at its limits, when it has answered, and when
 * nobody needs the answer any more.
 */

/** A table that a query may use besides the run's own. */
export interface QueryTable {
  name: string;
  columns: readonly { name: string; type: 'INTEGER' | 'DOUBLE' | 'BOOLEAN' | 'VARCHAR' }[];
  rows: readonly (readonly QueryCell[])[];
}

export interface QueryQuestion {
  sql: string;
  /** The sample of each input. */
  samples: readonly string[];
  tables: readonly QueryTable[];
  rows: number;
}

export interface QueryTask {
  folder: string;
  question: QueryQuestion;
  /** Files that were found sound since the run was opened. */
  sound: FileStamps;
}

export interface QueryOutcome {
  answer: QueryAnswer;
  sound: FileStamps;
}

export type QueryReply =
  /** The tables are there, and the query itself begins. */
  | { type: 'begins' }
  | ({ type: 'answered' } & QueryOutcome)
  /** It has taken as much memory as it may. */
  | { type: 'large' }
  | { type: 'failed'; error: AppError };

/** A process that runs one of this program's modules, and exchanges messages with it. */
export interface ModuleProcess {
  send: (task: QueryTask) => void;
  onReply: (listener: (reply: QueryReply) => void) => void;
  /** Called once, also if the process could not be started. */
  onExit: (listener: () => void) => void;
  /** Ends the process whatever it is doing. */
  kill: () => void;
}

/** Starts such a process; its temporary files go to this folder. */
export type StartModule = (module: URL, temporary: string) => ModuleProcess;

export const startModule: StartModule = (module, temporary) => {
  const child: ChildProcess = fork(module, {
    execArgv: [],
    env: { ...process.env, ...temporaryFolder(temporary) },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  return {
    // It fails if the process has ended, which `onExit` reports.
    send: (task) => void child.send(task, () => undefined),
    onReply: (listener) => void child.on('message', listener),
    onExit: (listener) => void child.once('exit', listener).once('error', listener),
    kill: () => void child.kill('SIGKILL'),
  };
};

/** The variables that name the folder for temporary files, on any system. */
export function temporaryFolder(folder: string): Record<string, string> {
  return { TMPDIR: folder, TMP: folder, TEMP: folder };
}

interface QueryProcessOptions {
  module: URL;
  start?: StartModule | undefined;
  /** Counted from when the tables are there: files are compared, and missing results derived, first. */
  seconds: number;
  /** Aborted when nobody needs the answer any more. */
  signal: AbortSignal;
}

/** A killed process is gone within this time, unless it waits for a disk. */
const GONE_MS = 10_000;

/**
 * Answers a query in a process of its own. When the promise settles, the process has ended and what it wrote
 * to disk is removed. Rejects with AppFailure.
 */
export async function queryInProcess(
  task: QueryTask,
  { module, start = startModule, seconds, signal }: QueryProcessOptions,
): Promise<QueryOutcome> {
  const temporary = mkdtempSync(join(tmpdir(), 'virnucpro-query-'));
  let limit: NodeJS.Timeout | undefined;
  try {
    const child = start(module, temporary);
    const gone = new Promise<void>((resolve) => {
      child.onExit(resolve);
    });
    try {
      return await new Promise<QueryOutcome>((resolve, reject) => {
        let hasBegun = false;
        child.onReply((reply) => {
          if (reply.type === 'answered') resolve({ answer: reply.answer, sound: reply.sound });
          else if (reply.type === 'failed') reject(new AppFailure(reply.error));
          else if (reply.type === 'large') reject(tooMuch('memory'));
          else {
            hasBegun = true;
            limit = setTimeout(() => {
              reject(tooMuch('time'));
            }, seconds * 1000);
          }
        });
        // DuckDB and Node end their process where they do not get the memory that they ask for.
        void gone.then(() => {
          reject(
            hasBegun ? tooMuch('memory') : appFailure('internal', 'The process of the query did not start.'),
          );
        });
        const giveUp = (): void => {
          reject(usage('The query was given up.'));
        };
        signal.addEventListener('abort', giveUp);
        if (signal.aborted) giveUp();
        else child.send(task);
      });
    } finally {
      child.kill();
      await Promise.race([gone, sleep(GONE_MS, undefined, { ref: false })]);
    }
  } finally {
    clearTimeout(limit);
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
  }
}

export function tooMuch(what: 'time' | 'memory'): AppFailure {
  return usage(
    what === 'time' ? 'The query took too long.' : 'The query took too much memory.',
    'Ask for less, such as with WHERE, or with fewer joins.',
  );
}
