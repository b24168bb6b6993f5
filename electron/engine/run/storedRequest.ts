import { appError, AppFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { runRequestSchema, type RunRequest } from '../../contract/rpc/runs.ts';
import type { StoredRun } from '../store/types.ts';

/** The request of a run. Throws AppFailure if it has none, such as one that another program made. */
export function storedRequest({ description }: Pick<StoredRun, 'description'>, folder: string): RunRequest {
  const request = runRequestSchema.safeParse(description.options['request']);
  if (request.success) return request.data;
  throw new AppFailure(
    appError('run_damaged', message('run.no_request', { folder }), {
      nextStep: message('run.no_request.next'),
    }),
  );
}
