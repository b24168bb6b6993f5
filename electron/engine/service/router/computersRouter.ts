import { appError, AppFailure } from '../../../contract/errors.ts';
import type { Transfer } from '../../../contract/rpc/computers.ts';
import { callbackStream } from '../changes.ts';
import type { Service } from '../service.ts';
import type { WindowContext } from '../window/windowContext.ts';
import { calls } from './implementer.ts';

/**
 * Only the desktop app has other computers: in a browser, anybody with its token would decide what is reached
 * through SSH.
 */
export function computersRouter(service: Service) {
  const { computers } = calls;
  const { others, known } = service;

  return {
    list: computers.list.handler(({ context: { window }, signal }) => {
      desktopOnly(window);
      return service.otherComputers.watch(signal);
    }),
    add: computers.add.handler(({ input, context: { window } }) => {
      desktopOnly(window);
      return { id: others.add(input.name, input.address) };
    }),
    rename: computers.rename.handler(({ input, context: { window } }) => {
      desktopOnly(window);
      others.rename(input.id, input.name);
    }),
    remove: computers.remove.handler(({ input, context: { window } }) => {
      desktopOnly(window);
      return others.remove(input.id, input.uninstalls);
    }),
    connect: computers.connect.handler(({ input, context: { window } }) => {
      desktopOnly(window);
      others.connect(input.id);
    }),
    disconnect: computers.disconnect.handler(({ input, context: { window } }) => {
      desktopOnly(window);
      return others.disconnect(input.id);
    }),
    answer: computers.answer.handler(({ input, context: { window } }) => {
      desktopOnly(window);
      others.answer(input.id, input.answer);
    }),
    sendFile: computers.sendFile.handler(async ({ input: { id, path }, context: { window }, signal }) => {
      desktopOnly(window);
      await known.check([path], window.paths);
      return transfers((tell, until) => others.sendFile(id, path, tell, until), signal);
    }),
    fetchFile: computers.fetchFile.handler(
      async ({ input: { id, address, path }, context: { window }, signal }) => {
        desktopOnly(window);
        await known.check([path], window.paths);
        return transfers(async (tell, until) => {
          await others.fetchFile(id, address, path, tell, until);
          return path;
        }, signal);
      },
    ),
  };
}

/** The progress of a file, and finally its path. */
function transfers(
  work: (tell: (transfer: Transfer) => void, signal: AbortSignal) => Promise<string>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Transfer, void> {
  return callbackStream<Transfer>(async (tell, until) => {
    let last: Transfer = { doneBytes: 0, totalBytes: 0, waiting: false, path: null };
    const path = await work((transfer) => {
      last = transfer;
      tell(transfer);
    }, until);
    tell({ ...last, doneBytes: last.totalBytes, waiting: false, path });
  }, signal);
}

function desktopOnly(window: WindowContext): void {
  if (window.shell === 'electron') return;
  throw new AppFailure(appError('usage', 'Only the desktop app can connect to other computers.'));
}
