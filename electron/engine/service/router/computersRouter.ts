import { appError, AppFailure } from '../../../contract/errors.ts';
import type { Transfer } from '../../../contract/rpc/computers.ts';
import { callbackStream } from '../changes.ts';
import { fetchFile, sendFile } from '../../computers/transfers.ts';
import type { Service } from '../service.ts';
import { calls } from './implementer.ts';

/**
 * Only the desktop app has other computers: in a browser, anybody with its token would decide what is reached
 * through SSH.
 */
export function computersRouter(service: Service) {
  const { others, known } = service;
  const computers = calls.computers.use(({ context: { window }, next }) => {
    if (window.shell === 'electron') return next();
    throw new AppFailure(appError('usage', 'Only the desktop app can connect to other computers.'));
  });

  return {
    list: computers.list.handler(({ signal }) => service.otherComputers.watch(signal)),
    add: computers.add.handler(({ input }) => ({ id: others.add(input.name, input.address) })),
    rename: computers.rename.handler(({ input }) => others.rename(input.id, input.name)),
    remove: computers.remove.handler(({ input }) => others.remove(input.id, input.uninstalls)),
    connect: computers.connect.handler(({ input }) => others.connection(input.id).connect()),
    disconnect: computers.disconnect.handler(({ input }) => others.connection(input.id).disconnect()),
    answer: computers.answer.handler(({ input }) => others.connection(input.id).answer(input.answer)),
    sendFile: computers.sendFile.handler(async ({ input: { id, path }, context: { window }, signal }) => {
      await known.check([path], window.paths);
      const { connected } = others.connection(id);
      return transfers((report, until) => sendFile(path, connected, report, until), signal);
    }),
    fetchFile: computers.fetchFile.handler(
      async ({ input: { id, address, path }, context: { window }, signal }) => {
        await known.check([path], window.paths);
        const { connected } = others.connection(id);
        return transfers((report, until) => fetchFile(address, path, connected, report, until), signal);
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
