import { implement } from '@orpc/server';
import {
  appError,
  contract,
  message,
  type ErrorCode,
  type OtherComputer,
} from '../../../../electron/contract/index.ts';

const failure = (code: ErrorCode, host: string, line: string) =>
  appError(code, message('ssh.failed', { host, line }));

/** Other computers, one in every state. */
export const MADE_COMPUTERS: readonly OtherComputer[] = (
  [
    ['gpu', { state: 'connected', version: '0.1.0', hostName: 'gpu-node-17.cluster.example.org' }],
    ['workstation', { state: 'connecting', step: 'sending', fraction: 0.4, question: null }],
    [
      'institute',
      {
        state: 'away',
        error: failure('ssh_unreachable', 'anna@institute.example.org', 'Connection timed out'),
        again: true,
      },
    ],
    [
      'core',
      {
        state: 'away',
        error: failure('ssh_host_key_changed', 'anna@core.example.org', 'Host key verification failed.'),
        again: false,
      },
    ],
    ['old', { state: 'idle' }],
  ] as const
).map(([name, link]) => ({ address: `anna@${name}.example.org`, link }));

/** As the desktop app has them; if there are none, the call is refused as in a browser. */
export const otherComputers = (computers: readonly OtherComputer[] | undefined) =>
  implement(contract).computers.list.handler(async function* ({ signal, errors }) {
    if (!computers)
      throw errors.APP({ data: appError('usage', 'Only the desktop app has other computers.') });
    yield [...computers];
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
  });
