import { implement } from '@orpc/server';
import { appError, contract, message, type OtherComputer } from '../../../../electron/contract/index.ts';

/** Other computers, one in every state. */
export const MADE_COMPUTERS: readonly OtherComputer[] = (
  [
    ['GPU server', { state: 'connected', version: '0.1.0', hostName: 'gpu-node-17.cluster.example.org' }],
    ['Workstation', { state: 'connecting', step: 'sending', fraction: 0.4, question: null }],
    [
      'Institute',
      {
        state: 'away',
        error: appError('ssh_unreachable', message('ssh.timeout', { host: 'anna@institute.example.org' })),
        again: true,
      },
    ],
    [
      'Core facility',
      {
        state: 'away',
        error: appError(
          'ssh_host_key_changed',
          message('ssh.host_key_changed', { host: 'anna@core.example.org' }),
        ),
        again: false,
      },
    ],
    ['Old server', { state: 'idle' }],
  ] as const
).map(([name, link], index) => ({
  id: `2f1e8a52-4f0e-4a7b-9f0f-0d6a3a6b1c1${index}`,
  name,
  address: `anna@${name.toLowerCase().replaceAll(' ', '-')}.example.org`,
  link,
}));

/** Other computers, as the desktop app has them; if there are none, calls are refused as in a browser. */
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
