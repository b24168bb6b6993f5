import { appError, AppFailure } from '../../contract/errors.ts';
import { message } from '../../contract/messages.ts';
import { PROGRAMS_FOLDER, sh } from './remoteServer.ts';
import type { SshClient } from './sshClient.ts';

const REMOVED = 'virnucpro:removed';

/**
 * Ends the server on another computer and deletes the program there; settings, weights and results stay.
 * Throws, and deletes nothing, if a run is active.
 */
export async function uninstallServer(ssh: SshClient, host: string): Promise<void> {
  // The newest program can find the servers of all versions.
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
    appError('usage', message('computer.not_uninstalled', { host }), {
      nextStep: message('computer.not_uninstalled.next'),
      detail: printed.slice(-2_000),
    }),
  );
}
