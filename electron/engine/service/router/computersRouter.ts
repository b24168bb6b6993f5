import { usage } from '../../../contract/errors.ts';
import { callbackStream } from '../changes.ts';
import { fetchFile, sendFile } from '../computers/transfers.ts';
import type { Service } from '../service.ts';
import { implement } from '@orpc/server';
import { contract, type Transfer } from '../../../contract/index.ts';
import type { CallContext } from '../window/windowContext.ts';

/**
 * Only the desktop app has other computers: in a browser, anybody with its token would decide what is reached
 * through SSH.
 */
export function computersRouter(service: Service) {
  const { others, known } = service;
  const computers = implement(contract.computers)
    .$context<CallContext>()
    .use(({ context: { window }, next }) => {
      if (window.shell === 'electron') return next();
      throw usage('Only the desktop app can connect to other computers.');
    });

  return {
    list: computers.list.handler(({ signal }) => service.otherComputers.watch(signal)),
    add: computers.add.handler(({ input }) => others.add(input.address)),
    remove: computers.remove.handler(({ input }) => others.remove(input.address)),
    connect: computers.connect.handler(({ input }) => others.get(input.address).connect()),
    disconnect: computers.disconnect.handler(({ input }) => others.get(input.address).disconnect()),
    answer: computers.answer.handler(({ input }) => others.get(input.address).answer(input.answer)),
    transfer: computers.transfer.handler(async ({ input, context: { window }, signal }) => {
      const { address, path, offer } = input;
      await known.check([path], window.paths);
      const work = offer === undefined ? sendFile : fetchFile.bind(null, offer);
      return callbackStream<Transfer>((...parts) => work(path, others.get(address), ...parts), signal);
    }),
  };
}
