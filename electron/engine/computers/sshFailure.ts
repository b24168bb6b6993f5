import { appError, type AppError } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';

/**
 * The messages that OpenSSH's client prints before it gives up, in the order in which they are tested.
 * OpenSSH is not translated.
 */
const PATTERNS: readonly [RegExp, (host: string) => AppError][] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED|host key for .* has changed/i,
    (host) => appError('ssh_host_key_changed', message('ssh.host_key_changed', { host })),
  ],
  [
    /Host key verification failed|No .* host key is known/i,
    (host) =>
      appError('ssh_host_key_refused', message('ssh.host_key_unknown', { host }), {
        nextStep: message('ssh.host_key_unknown.next'),
      }),
  ],
  [
    /Could not resolve hostname|Name or service not known|nodename nor servname/i,
    (host) => appError('ssh_name_unknown', message('ssh.name', { host })),
  ],
  [
    /Permission denied|Too many authentication failures|No more authentication methods/i,
    (host) => appError('ssh_denied', message('ssh.denied', { host })),
  ],
  [/Connection refused/i, (host) => appError('ssh_unreachable', message('ssh.refused', { host }))],
  [
    /timed out|Timeout, server|not responding/i,
    (host) => appError('ssh_unreachable', message('ssh.timeout', { host })),
  ],
  [
    /No route to host|Network is unreachable|Host is down|Network is down/i,
    (host) => appError('ssh_unreachable', message('ssh.no_route', { host })),
  ],
  [
    /administratively prohibited|remote port forwarding failed|forwarding request failed/i,
    (host) =>
      appError('ssh_failed', message('ssh.tunnel', { host }), { nextStep: message('ssh.tunnel.next') }),
  ],
  [
    /Broken pipe|Connection (to .* )?closed|Connection reset|kex_exchange_identification/i,
    (host) => appError('ssh_lost', message('ssh.lost', { host })),
  ],
];

/** Determines from ssh's standard error why it ended, as an error for the user. */
export function sshFailure(host: string, stderr: string): AppError {
  const found = PATTERNS.find(([pattern]) => pattern.test(stderr))?.[1](host);
  const detail = stderr.trim().slice(-2_000);
  if (found) return { ...found, ...(detail === '' ? {} : { detail }) };
  const line = stderr.trim().split('\n').at(-1)?.trim() ?? '';
  if (line === '') return appError('ssh_lost', message('ssh.lost', { host }));
  return appError('ssh_failed', message('ssh.failed', { host, line }), { detail });
}

export function sshMissing(): AppError {
  return appError('ssh_missing', message('ssh.missing'));
}

/** Whether a person could help: by confirming a host key, or with a password or passphrase. */
export function needsPerson({ code }: AppError): boolean {
  return code === 'ssh_host_key_refused' || code === 'ssh_denied';
}

/** Whether the network may be back in a moment, so that a retry without questions makes sense. */
export function mayPass({ code }: AppError): boolean {
  return code === 'ssh_lost' || code === 'ssh_unreachable' || code === 'ssh_name_unknown';
}
