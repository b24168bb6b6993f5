import { appError, type AppError } from '../../contract/errors.ts';
import type { Plan } from '../../contract/plan.ts';
import type { RunDescription } from './types.ts';

/** The task of a store thread. */
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

/** Maps method names to functions on plain data. Arguments and results travel by structured clone. */
export type StoreMethods = Record<string, (...args: never[]) => unknown>;

/** The same methods as the engine calls them on the thread. */
export type Asked<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Awaited<Answer>>
    : never;
};

/** The methods of all groups together. */
export type AllOf<Groups> = (
  Groups[keyof Groups] extends infer Methods
    ? Methods extends unknown
      ? (methods: Methods) => void
      : never
    : never
) extends (methods: infer All) => void
  ? All
  : never;

export function allOf<Groups extends Record<string, StoreMethods>>(groups: Groups): AllOf<Groups> {
  return Object.assign({}, ...Object.values(groups)) as AllOf<Groups>;
}

/** The names of a thread's methods, grouped by how they are called. */
export type MethodNames = Readonly<Record<string, readonly string[]>>;

export interface StoreRequest {
  id: number;
  method: string;
  args: unknown[];
}

/** Asks a thread to end, in addition to its methods. */
export const LEAVE = 'leave';

export const OPENED_TO_LOOK = appError('run_locked', 'This run was opened to look only.');

export type StoreReply =
  | { type: 'opened'; journal: Journal; names: MethodNames }
  | { type: 'refused'; error: AppError }
  | { type: 'leaving' }
  | { type: 'result'; id: number; value: unknown }
  | { type: 'error'; id: number; error: AppError };
