import { appError, AppFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { runRequestSchema, THIS_COMPUTER, type RunRequest } from '../../contract/rpc/runs.ts';
import type { StoredRun } from '../store/types.ts';

/** The request of a run. Throws AppFailure if it has none, such as one that another program made. */
export function storedRequest({ description }: Pick<StoredRun, 'description'>, folder: string): RunRequest {
  const stored = description.options['request'];
  let request = runRequestSchema.safeParse(stored);
  // Earlier versions described clusters differently.
  if (!request.success) request = runRequestSchema.safeParse({ ...(stored as object), where: THIS_COMPUTER });
  if (request.success) return request.data;
  throw new AppFailure(
    appError('run_damaged', message('run.no_request', { folder }), {
      nextStep: message('run.no_request.next'),
    }),
  );
}
