import { implement } from '@orpc/server';
import { appError, contract, type OtherComputer } from '../../../electron/contract/index.ts';

/** Other computers as the desktop app has them; refused as in a browser where there are none. */
export function computersRouter(computers: readonly OtherComputer[] | undefined) {
  const { computers: os } = implement(contract);
  return {
    list: os.list.handler(async function* ({ signal, errors }) {
      if (!computers)
        throw errors.APP({ data: appError('usage', 'Only the desktop app has other computers.') });
      yield [...computers];
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    }),
    add: os.add.handler(() => ({ id: crypto.randomUUID() })),
    rename: os.rename.handler(() => undefined),
    remove: os.remove.handler(() => undefined),
    connect: os.connect.handler(() => undefined),
    disconnect: os.disconnect.handler(() => undefined),
    answer: os.answer.handler(() => undefined),
    // eslint-disable-next-line @typescript-eslint/require-await -- a stream of one
    sendFile: os.sendFile.handler(async function* ({ input: { path } }) {
      yield { doneBytes: 1, totalBytes: 1, waiting: false, path };
    }),
    // eslint-disable-next-line @typescript-eslint/require-await -- a stream of one
    fetchFile: os.fetchFile.handler(async function* ({ input: { path } }) {
      yield { doneBytes: 1, totalBytes: 1, waiting: false, path };
    }),
  };
}
