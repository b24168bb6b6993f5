import { appError, AppFailure } from '../../contract/errors.ts';
import { PROGRAMS_FOLDER, sh } from './remoteServer.ts';
import { SshClient } from './sshClient.ts';

const REMOVED = 'virnucpro:removed';

/**
 * Ends the server on another computer and deletes the program there; settings, weights and results stay. Throws, and deletes nothing,
 * where a run is at work.
 */
export async function uninstallServer(address: string, knownHosts: string): Promise<void> {
  const ssh = await SshClient.signIn({ address, knownHosts }, null);
  try {
    // The newest program knows the servers of all.
    const printed = await ssh.run(
      sh(
        [
          `B=${PROGRAMS_FOLDER}`,
          `P=$(ls -t "$B"/*/virnucpro.mjs 2>/dev/null | head -n 1)`,
          `[ -z "$P" ] || "\${P%/*}/node" "$P" serve --end-detached || exit 0`,
          `rm -rf "$B" && echo ${REMOVED}`,
        ].join('; '),
      ),
    );
    if (printed.includes(REMOVED)) return;
    throw new AppFailure(
      appError(
        'usage',
        `The server on ${address} has a run at work, or does not end. Nothing was deleted there.`,
        {
          nextStep:
            'Pause the run, then try again; --keep-program forgets the computer and deletes nothing there.',
          detail: printed.slice(-2_000),
        },
      ),
    );
  } finally {
    await ssh.close();
  }
}
