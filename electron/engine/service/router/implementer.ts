import { implement, ORPCError } from '@orpc/server';
import { z } from 'zod';
import { appError, asAppError, contract, type AppError } from '../../../contract/index.ts';
import type { WindowContext } from '../window/windowContext.ts';

interface CallContext {
  readonly window: WindowContext;
}

/**
 * The contract with what all calls have in common: every error reaches the window as code, title, cause and
 * next step.
 */
export const calls = implement(contract)
  .$context<CallContext>()
  .use(async ({ next }) => {
    try {
      const result = await next();
      return isStream(result.output)
        ? { ...result, output: asData(result.output) as typeof result.output }
        : result;
    } catch (reason) {
      throw asCallError(reason);
    }
  });

/** A stream may fail long after it began. */
async function* asData<Event>(stream: AsyncIterable<Event>): AsyncGenerator<Event, void> {
  try {
    yield* stream;
  } catch (reason) {
    throw asCallError(reason);
  }
}

function isStream(output: unknown): output is AsyncIterable<unknown> {
  return typeof output === 'object' && output !== null && Symbol.asyncIterator in output;
}

const issuesSchema = z.object({
  issues: z.array(z.object({ message: z.string(), path: z.array(z.unknown()).optional() })),
});

function asCallError(reason: unknown): Error {
  // The whole router has this middleware, and so has each of its calls.
  if (reason instanceof ORPCError && reason.code === 'APP') return reason;
  return new ORPCError('APP', { message: 'The call failed', data: describe(reason) });
}

function describe(reason: unknown): AppError {
  if (reason instanceof ORPCError && reason.code === 'BAD_REQUEST') {
    const [issue] = issuesSchema.safeParse(reason.data).data?.issues ?? [];
    const where = issue?.path?.map(String).join('.');
    return appError(
      'usage',
      `The window sent something that the engine does not understand${where ? ` (${where})` : ''}.`,
      {
        nextStep: 'Load the window again.',
        ...(issue ? { detail: issue.message } : {}),
      },
    );
  }
  return asAppError(reason instanceof ORPCError ? (reason.cause ?? reason) : reason);
}
