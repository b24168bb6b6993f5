import type { AppError } from '../../contract/errors.ts';
import type { Plan } from '../../contract/plan.ts';
import type { RunDescription } from './types.ts';

/** What a store thread is started for. */
export type StoreTask =
  | {
      store: 'run';
      role: 'writer';
      folder: string;
      create: { plan: Plan; description: RunDescription } | null;
    }
  /** `known`: this process has checked the database. */
  | { store: 'run'; role: 'reader'; folder: string; known: boolean }
  | { store: 'library'; path: string };

/** `workerData` of a store thread; the key distinguishes it from other threads of the same bundle. */
export interface StoreThreadData {
  virnucproStore: StoreTask;
}

export type Journal = 'wal' | 'rollback';

/** Names of methods to functions on plain data. Arguments and results travel by structured clone. */
export type StoreMethods = Record<string, (...args: never[]) => unknown>;

export interface StoreRequest {
  id: number;
  method: string;
  args: unknown[];
}

export type StoreReply =
  | { type: 'opened'; journal: Journal }
  | { type: 'refused'; error: AppError }
  | { type: 'result'; id: number; value: unknown }
  | { type: 'error'; id: number; error: AppError };
