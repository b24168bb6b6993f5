import { z } from 'zod';
import { appErrorSchema } from './errors.ts';
import { goalSchema } from './goal.ts';

/** Damaged records, and lines that belong to no record and were passed over. */
export const damageSchema = z.object({ records: z.int().nonnegative(), lines: z.int().nonnegative() });
export type Damage = z.infer<typeof damageSchema>;

/** A run's life. Transitions are in engine/run/runRecord.ts. */
export const runStateSchema = z.discriminatedUnion('phase', [
  z.object({ phase: z.literal('created') }),
  z.object({ phase: z.literal('running') }),
  /** Current batches are being finished and the devices freed. */
  z.object({ phase: z.literal('pausing') }),
  /** Current parts are being finished; then the run pauses. */
  z.object({ phase: z.literal('draining'), enough: goalSchema.optional().catch(undefined) }),
  /** `enough`: the goal that was reached; the rest is not computed. */
  z.object({
    phase: z.literal('paused'),
    error: appErrorSchema.nullable(),
    enough: goalSchema.optional().catch(undefined),
  }),
  /** All parts are done or failed; tables are being written. */
  z.object({ phase: z.literal('finishing') }),
  z.object({
    phase: z.literal('done'),
    failedParts: z.int().nonnegative(),
    failedRecords: z.int().nonnegative(),
    /** Files named by the user that could not be used. */
    failedInputs: z.int().nonnegative().optional(),
    /** What of the files is in no score because it is damaged; absent if nothing is. */
    damage: damageSchema.optional(),
  }),
  /** Shown in the list of runs for a folder that cannot be read; no run enters this state itself. */
  z.object({ phase: z.literal('failed'), error: appErrorSchema }),
  z.object({ phase: z.literal('cancelled') }),
]);
export type RunState = z.infer<typeof runStateSchema>;
export type RunPhase = RunState['phase'];

/** Whether the engine works on the run, or was cut off while it did. */
export function isActive({ phase }: { readonly phase: string }): boolean {
  return phase === 'running' || phase === 'pausing' || phase === 'draining' || phase === 'finishing';
}

/** Whether the engine works on the run right now, or is just starting to, and keeps the computer busy. */
export function isAtWork(run: {
  state: RunState;
  interrupted: boolean;
  missing: boolean;
  starting?: boolean;
}): boolean {
  return (isActive(run.state) || run.starting === true) && !run.interrupted && !run.missing;
}

export const partStateSchema = z.enum(['pending', 'assigned', 'done', 'failed', 'split', 'skipped']);
export type PartState = z.infer<typeof partStateSchema>;
