import { create } from 'zustand';
import { toShownError, type ShownError } from '../api/callError.ts';

export type Toast =
  | { readonly id: number; readonly kind: 'done'; readonly text: string }
  | { readonly id: number; readonly kind: 'error'; readonly error: ShownError };

const DONE_STAYS_MS = 5000;
let nextId = 1;

export const useToasts = create<{ readonly toasts: readonly Toast[] }>(() => ({ toasts: [] }));

export function dismissToast(id: number): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));
}

export function say(text: string): void {
  const id = nextId++;
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts, { id, kind: 'done', text }] }));
  setTimeout(() => dismissToast(id), DONE_STAYS_MS);
}

/** Errors stay until they are closed: they carry a next step. */
export function sayError(reason: unknown): void {
  const toast: Toast = { id: nextId++, kind: 'error', error: toShownError(reason) };
  useToasts.setState(({ toasts }) => ({ toasts: [...toasts.slice(-2), toast] }));
}
