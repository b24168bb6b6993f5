/**
 * Ends threads that are stuck in SQLite, and reports the result: node stuckChild.ts FOLDER. It is a separate
 * process, since a process with such a thread cannot end normally.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppFailure } from '../../../contract/errors.ts';
import { StoreThread, threadsLeft } from '../storeThread.ts';

const [folder = ''] = process.argv.slice(2);
const host = new URL('endlessHostEntry.ts', import.meta.url);
const codeOf = (opening: Promise<unknown>): Promise<string> =>
  opening.then(
    () => 'opened',
    (error: unknown) => (error instanceof AppFailure ? error.error.code : String(error)),
  );
async function stuck(at: string): Promise<void> {
  while (!existsSync(join(at, 'stuck'))) await sleep(10);
  rmSync(join(at, 'stuck'));
  await sleep(1_000);
}

const refused = join(folder, 'refused');
mkdirSync(refused);
const reader = (at: string) => ({ store: 'run', role: 'reader', folder: at, known: false }) as const;
const outcome: unknown[] = [];
outcome.push(await codeOf(StoreThread.open(host, reader(refused))), threadsLeft());

const writer = { store: 'run', role: 'writer', folder, create: null } as const;
const thread = await StoreThread.open<{ ask: () => number }>(host, writer);
const asked = codeOf(thread.call('ask'));
await stuck(folder);
await thread.stop();
outcome.push(await asked, threadsLeft());

const closing = new AbortController();
const opening = codeOf(StoreThread.open(host, reader(folder), { closing: closing.signal }));
await stuck(folder);
closing.abort();
outcome.push(await opening, threadsLeft());
outcome.push(
  await codeOf(StoreThread.open(host, reader(folder), { closing: closing.signal })),
  threadsLeft(),
);

process.stdout.write(JSON.stringify(outcome), () => process.kill(process.pid, 'SIGKILL'));
