/** A program that starts a process as the engine starts workers, prints its process number, and waits to be killed. */
import { BackendProcess } from '../backendProcess.ts';
import { monitorEventSchema } from '../../../contract/protocol/index.ts';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { TOKEN_VARIABLE } from '../processRecords.ts';

const [folder = ''] = process.argv.slice(2);
const token = randomUUID();
// Unlike a worker it doesn't end when its standard input closes, nor by a polite signal.
const stubborn =
  "process.on('SIGTERM', () => {}); process.stdin.on('error', () => {}); setInterval(() => {}, 1000);";
const child = new BackendProcess(
  {
    file: process.execPath,
    args: ['-e', stubborn],
    env: { [TOKEN_VARIABLE]: token },
    records: { folder, token },
  },
  join(folder, 'orphan.log'),
  monitorEventSchema,
  () => undefined,
);
process.stdout.write(`${child.pid ?? 0}\n`);
