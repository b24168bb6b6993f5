import { homedir } from 'node:os';
import { message, type Message } from '../../contract/messages.ts';
import { HERE } from '../system/here.ts';
import type { System } from '../system/types.ts';

/**
 * Warns about a run's folder that OneDrive or a similar program copies while it is written; null for other
 * folders.
 */
export function syncedFolder(
  folder: string,
  system: Pick<System, 'syncClient'> = HERE,
  { env, home }: { env: NodeJS.ProcessEnv; home: string } = { env: process.env, home: homedir() },
): Message | null {
  const client = system.syncClient(folder, env, home);
  return client === null ? null : message('note.synced_folder', { folder, client });
}
