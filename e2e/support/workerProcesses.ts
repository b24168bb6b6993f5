import { readdir, readFile } from 'node:fs/promises';

/**
 * Numbers of the worker processes that a process started. They are read from /proc, so this works only on
 * Linux.
 */
export async function workersBelow(parent: number): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const [state, parentPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(parentPid) !== parent || state === 'Z') continue;
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (command.includes('virnucpro_backend.worker')) found.push(Number(name));
  }
  return found;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
