import { readdir, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HERE } from '../system/here.ts';
import { isProcessAlive, processStart } from '../processes/liveProcess.ts';
import { processRecordSchema, TOKEN_VARIABLE, type ProcessRecord } from './processRecords.ts';
import { parseJson } from '../../contract/parseJson.ts';

const TERM_GRACE_MS = 2_000;
const KILL_GRACE_MS = 2_000;
const LOOK_INTERVAL_MS = 50;

/**
 * Ends processes of ours whose engine is gone: by number, start time and token, all three, and never by name. Workers end
 * by themselves when their standard input closes, so ordinarily there is nothing to do. Answers with the numbers ended.
 */
export async function sweepOrphans(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(() => []);
  const ended: number[] = [];
  for (const name of names.filter((name) => name.endsWith('.json'))) {
    const path = join(folder, name);
    const record = parseJson(processRecordSchema, await readFile(path, 'utf8').catch(() => undefined));
    if (record && (record.host !== hostname() || isSame(record.engine))) continue;
    if (record && isSame(record.process) && hasToken(record)) {
      await end(record.process.pid);
      ended.push(record.process.pid);
    }
    await rm(path, { force: true });
  }
  return ended;
}

function isSame({ pid, startTime }: ProcessRecord['process']): boolean {
  return isProcessAlive(pid) && processStart(pid) === startTime;
}

/** Whether the process was started with the record's token in its environment. */
function hasToken({ process: { pid }, token }: ProcessRecord): boolean {
  try {
    return HERE.hasInEnvironment(pid, `${TOKEN_VARIABLE}=${token}`);
  } catch {
    return false;
  }
}

async function end(pid: number): Promise<void> {
  signal(pid, 'SIGTERM');
  if (await isGone(pid, TERM_GRACE_MS)) return;
  signal(pid, 'SIGKILL');
  await isGone(pid, KILL_GRACE_MS);
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  for (const target of HERE.signalTargets(pid)) {
    try {
      process.kill(target, name);
      return;
    } catch {
      // No such group, or gone meanwhile.
    }
  }
}

async function isGone(pid: number, withinMs: number): Promise<boolean> {
  for (let waited = 0; waited < withinMs; waited += LOOK_INTERVAL_MS) {
    if (!isProcessAlive(pid)) return true;
    await sleep(LOOK_INTERVAL_MS);
  }
  return !isProcessAlive(pid);
}
