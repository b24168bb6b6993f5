import { appError, type AppError, type ErrorCode } from '../../contract/errors.ts';
import { message, type MessageKey } from '../../contract/messages.ts';

/**
 * What OpenSSH's client, which is not translated, prints before it gives up, in the order in which it is
 * tested.
 */
const SIGNS = [
  [
    /HOST IDENTIFICATION HAS CHANGED|host key for .* has changed/i,
    'ssh_host_key_changed',
    'ssh.host_key_changed',
  ],
  [/Host key verification failed|No .* host key is known/i, 'ssh_host_key_refused', 'ssh.host_key_no'],
  [/Could not resolve hostname|Name or service not known|nodename nor/i, 'ssh_name_unknown', 'ssh.name'],
  [/Permission denied|Too many auth|No more authentication methods/i, 'ssh_denied', 'ssh.denied'],
  [/Connection refused/i, 'ssh_unreachable', 'ssh.refused'],
  [/timed out|Timeout, server|not responding/i, 'ssh_unreachable', 'ssh.timeout'],
  [/No route to host|(Network|Host) is (unreachable|down)/i, 'ssh_unreachable', 'ssh.no_route'],
  [/administratively prohibited|forwarding (request )?failed/i, 'ssh_failed', 'ssh.tunnel'],
  [/^$|Broken pipe|Connection (to .* )?closed|Connection reset|kex_exchange/i, 'ssh_lost', 'ssh.lost'],
] as const satisfies readonly (readonly [RegExp, ErrorCode, MessageKey])[];

/** How a refusal reads where ssh could ask nobody. */
const UNASKED: ReadonlyMap<ErrorCode, 'ssh.host_key_unknown' | 'ssh.denied_unasked'> = new Map([
  ['ssh_host_key_refused', 'ssh.host_key_unknown'],
  ['ssh_denied', 'ssh.denied_unasked'],
]);

/** Determines from ssh's standard error why it ended, as an error for the user, whom it could have `asked`. */
export function sshFailure(host: string, stderr: string, asked: boolean): AppError {
  const output = stderr.trim();
  const detail = output.slice(-2_000) || undefined;
  const found = SIGNS.find(([sign]) => sign.test(output));
  if (!found) {
    const line = output.split('\n').at(-1)?.trim() ?? '';
    return appError('ssh_failed', message('ssh.failed', { host, line }), { detail });
  }
  const [, code, usual] = found;
  return appError(code, message((asked ? undefined : UNASKED.get(code)) ?? usual, { host }), { detail });
}

/** Whether a person could help: by confirming a host key, or with a password or passphrase. */
export const needsPerson = ({ code }: AppError): boolean =>
  code === 'ssh_host_key_refused' || code === 'ssh_denied';

/** Whether the network may be back in a moment, so that a retry without questions makes sense. */
export const mayPass = ({ code }: AppError): boolean =>
  code === 'ssh_lost' || code === 'ssh_unreachable' || code === 'ssh_name_unknown';
