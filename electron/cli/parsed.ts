import type { z } from 'zod';
import { appError, AppFailure } from '../contract/errors.ts';

/** The typed value if the contract allows it; else the error names its flag. Inputs have none. */
export function parsed<Schema extends z.ZodType>(schema: Schema, typed: unknown): z.output<Schema> {
  const outcome = schema.safeParse(typed);
  if (outcome.success) return outcome.data;
  const [issue] = outcome.error.issues;
  const words = issue?.message ?? 'This is not understood.';
  const flag = issue?.path.filter((key) => typeof key === 'string' && key !== 'inputs').join('.') ?? '';
  throw new AppFailure(appError('usage', flag === '' ? words : `--${flag}: ${words}`));
}
