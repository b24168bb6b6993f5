import { appError, AppFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { runRequestSchema, THIS_COMPUTER, type RunRequest } from '../../contract/rpc/runs.ts';
import type { StoredRun } from '../store/types.ts';

/** How a run was asked for. Raises AppFailure where it does not say, as a run that another program made. */
export function storedRequest({ description }: Pick<StoredRun, 'description'>, folder: string): RunRequest {
  const stored = description.options['request'];
  let request = runRequestSchema.safeParse(stored);
  // Clusters were described otherwise by earlier versions.
  if (!request.success) request = runRequestSchema.safeParse({ ...(stored as object), where: THIS_COMPUTER });
  if (request.success) return request.data;
  throw new AppFailure(
    appError('run_damaged', message('run.no_request', { folder }), {
      nextStep: message('run.no_request.next'),
    }),
  );
}
