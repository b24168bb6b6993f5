import { usage } from '../../../contract/errors.ts';
import { callbackStream } from '../changes.ts';
import { fetchFile, sendFile } from '../../computers/transfers.ts';
import type { Service } from '../service.ts';
import { implement } from '@orpc/server';
import { contract } from '../../../contract/index.ts';
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
    add: computers.add.handler(({ input }) => ({ id: others.add(input.name, input.address) })),
    remove: computers.remove.handler(({ input }) => others.remove(input.id, input.uninstalls)),
    connect: computers.connect.handler(({ input }) => others.connection(input.id).connect()),
    disconnect: computers.disconnect.handler(({ input }) => others.connection(input.id).disconnect()),
    answer: computers.answer.handler(({ input }) => others.connection(input.id).answer(input.answer)),
    sendFile: computers.sendFile.handler(async ({ input: { id, path }, context: { window }, signal }) => {
      await known.check([path], window.paths);
      const { connected } = others.connection(id);
      return callbackStream((tell, until) => sendFile(path, connected, tell, until), signal);
    }),
    fetchFile: computers.fetchFile.handler(
      async ({ input: { id, address, path }, context: { window }, signal }) => {
        await known.check([path], window.paths);
        const { connected } = others.connection(id);
        return callbackStream((tell, until) => fetchFile(address, path, connected, tell, until), signal);
      },
    ),
  };
}
