import { calls } from './implementer.ts';
import type { Service } from '../service.ts';
import { computerRouter } from './computerRouter.ts';
import { computersRouter } from './computersRouter.ts';
import { resultsRouter } from './resultsRouter.ts';
import { runsRouter } from './runsRouter.ts';
import { appError, AppFailure, unwrap } from '../../../contract/errors.ts';
import { usage } from '../failures.ts';
import { WholeFile } from '../../exports/wholeFile.ts';
import type { DesktopActions, WindowContext } from '../window/windowContext.ts';

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

function shellRouter(service: Service) {
  const { shell } = calls;
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
    savePicture: shell.savePicture.handler(async ({ input, context: { window } }) => {
      const path = await desktop(window).chooseSaveFile(input.suggestedName);
      if (path !== null)
        await WholeFile.write(path, (file) => file.write(Buffer.from(input.base64, 'base64')));
      return { path };
    }),
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
  throw new AppFailure(
    appError('usage', 'Only the desktop app can do this.', {
      nextStep: 'Use the file chooser of this page.',
    }),
  );
}
