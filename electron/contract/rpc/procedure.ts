import { oc } from '@orpc/contract';
import { appErrorSchema } from '../errors.ts';

/** Every call may fail with an error that the user can read: code, title, cause, next step. */
export const procedure = oc.errors({ APP: { message: 'The call failed', data: appErrorSchema } });
