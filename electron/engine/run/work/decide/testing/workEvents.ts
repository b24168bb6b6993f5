/** What workers tell the session, and parts as the store has them. */
import { appError } from '../../../../../contract/errors.ts';
import type { PartDone, PartFailed } from '../../../../../contract/protocol/index.ts';
import type { StoredPart } from '../../../../store/types.ts';
import type { WorkEvent } from '../workState.ts';

export const DIED = appError('worker_died', 'It stopped.', { detail: 'a trace' });

export const part = (key: string, facts: Partial<StoredPart> = {}): StoredPart =>
  ({
    key,
    residues: 100,
    chunks: 4,
    round: 0,
    attempts: 0,
    state: 'pending',
    bisected: key.includes('.'),
    ...facts,
  }) as StoredPart;

export const ready = (device: string) => ({ type: 'worker_ready', device }) as WorkEvent;

export const done = (device: string, key: string, facts: Partial<PartDone> = {}) =>
  ({ type: 'part_done', device, done: { part: key, ...facts } as PartDone }) as const;

export const failed = (device: string, key: string, code: PartFailed['code']) =>
  ({
    type: 'part_failed',
    device,
    failed: { type: 'part_failed', part: key, code, message: 'no', detail: 'why' },
  }) as const;

export const died = (device: string, restartAttempt: number | null): WorkEvent => ({
  ...{ type: 'worker_died', device, error: DIED, restartAttempt },
});

export const started = (
  parts: readonly StoredPart[],
  { lost = [], prepared = true }: { lost?: readonly string[]; prepared?: boolean } = {},
): WorkEvent => ({ type: 'started', parts, lost, prepared });

export const ended = (key: string, outcome: 'recalled' | 'worker_lost' | 'interrupted'): WorkEvent => ({
  ...{ type: 'attempt_ended', key, outcome, failure: null },
});

export const read = (...parts: StoredPart[]): WorkEvent => ({ type: 'part_read', parts });

export const registered = (key: string, as: 'new' | 'known' | 'replaced'): WorkEvent => ({
  ...{ type: 'part_prepared', key, registered: as },
});
