import { implement, ORPCError } from '@orpc/server';
import { z } from 'zod';
import { appError, asAppError, contract, type AppError } from '../../../contract/index.ts';
import type { Service } from '../service.ts';
import { computerRouter } from './computerRouter.ts';
import { computersRouter } from './computersRouter.ts';
import { resultsRouter } from './resultsRouter.ts';
import { runsRouter } from './runsRouter.ts';
import { unwrap, usage } from '../../../contract/errors.ts';
import type { CallContext, DesktopActions, WindowContext } from '../window/windowContext.ts';

/**
 * Every call of the contract, answered by the service. It is the same for windows of Electron and of a
 * browser. Every error reaches the window as code, title, cause and next step.
 */
export function serviceRouter(service: Service) {
  return implement(contract)
    .$context<CallContext>()
    .use(async ({ next }) => {
      try {
        // Calls are counted, so that none is pending any more when the engine has closed.
        const result = await service.calls.run(() => next());
        return isStream(result.output)
          ? { ...result, output: asData(result.output) as typeof result.output }
          : result;
      } catch (reason) {
        throw asCallError(reason);
      }
    })
    .router({
      runs: runsRouter(service),
      results: resultsRouter(service),
      computer: computerRouter(service),
      computers: computersRouter(service),
      shell: shellRouter(service),
    });
}
export type ServiceRouter = ReturnType<typeof serviceRouter>;

function shellRouter(service: Service) {
  const shell = implement(contract.shell).$context<CallContext>();
  return {
    chooseFiles: shell.chooseFiles.handler(async ({ input, context: { window } }) => ({
      paths: await desktop(window).chooseFiles(input.purpose),
    })),
    chooseFolder: shell.chooseFolder.handler(async ({ input, context: { window } }) => ({
      path: await desktop(window).chooseFolder(input.purpose),
    })),
    chooseSaveFile: shell.chooseSaveFile.handler(async ({ input, context: { window } }) => ({
      path: await desktop(window).chooseSaveFile(input.suggestedName),
    })),
    grantPaths: shell.grantPaths.handler(async ({ input, context: { window } }) => {
      unwrap(await desktop(window).grantPaths(input.paths));
    }),
    revealInFolder: shell.revealInFolder.handler(async ({ input, context: { window } }) => {
      const actions = desktop(window);
      await service.known.check([input.path], window.paths);
      actions.revealInFolder(input.path);
    }),
    openExport: shell.openExport.handler(async ({ input, context: { window } }) => {
      const actions = desktop(window);
      if (!service.exported.has(input.path)) throw usage('This file was not exported by this program.');
      unwrap(await actions.openFile(input.path));
    }),
    restart: shell.restart.handler(({ context: { window } }) => {
      desktop(window).restart();
    }),
    copyText: shell.copyText.handler(({ input, context: { window } }) =>
      desktop(window).copyText(input.text),
    ),
    searchBlast: shell.searchBlast.handler(({ input, context: { window } }) =>
      desktop(window).searchBlast(input),
    ),
  };
}

function desktop(window: WindowContext): DesktopActions {
  if (window.shell === 'electron') return window.desktop;
  throw usage('Only the desktop app can do this.', 'Use the file chooser of this page.');
}

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
