import { homedir } from 'node:os';
import { message, type Message } from '../../contract/messages.ts';
import { HERE } from '../system/here.ts';
import type { System } from '../system/types.ts';

/** What a user should know of a run's folder that OneDrive and the like copy while it is written; null elsewhere. */
export function syncedFolder(
  folder: string,
  system: Pick<System, 'syncClient'> = HERE,
  { env, home }: { env: NodeJS.ProcessEnv; home: string } = { env: process.env, home: homedir() },
): Message | null {
  const client = system.syncClient(folder, env, home);
  return client === null ? null : message('note.synced_folder', { folder, client });
}
