import { calls } from './implementer.ts';
import type { Service } from '../service.ts';
import { computerRouter } from './computerRouter.ts';
import { computersRouter } from './computersRouter.ts';
import { resultsRouter } from './resultsRouter.ts';
import { runsRouter } from './runsRouter.ts';
import { shellRouter } from './shellRouter.ts';

/**
 * Every call of the contract, answered by the service. It is the same for windows of Electron and of a
 * browser.
 */
export function serviceRouter(service: Service) {
  // Calls are counted, so that none is pending any more when the engine has closed.
  return calls
    .use(({ next }) => service.calls.run(() => next()))
    .router({
      runs: runsRouter(service),
      results: resultsRouter(service),
      computer: computerRouter(service),
      computers: computersRouter(service),
      shell: shellRouter(service),
    });
}
export type ServiceRouter = ReturnType<typeof serviceRouter>;
