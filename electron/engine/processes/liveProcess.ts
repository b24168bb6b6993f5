import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * When a process on this computer was started, good only for comparing: a later process with the same number has another
 * start. Null if there is no such process, or if the system has no cheap way to tell (Windows).
 */
export function processStart(pid: number): string | null {
  return systemEntry(pid)?.start ?? null;
}

/** Whether a process on this computer is running, whoever owns it. One that has ended but was not yet reaped is not. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It exists and belongs to somebody else.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return systemEntry(pid)?.state !== ZOMBIE;
}

const ZOMBIE = 'Z';

interface SystemEntry {
  /** One letter, as `ps` prints it. */
  state: string;
  start: string;
}

function systemEntry(pid: number): SystemEntry | null {
  try {
    if (process.platform === 'linux') return linuxEntry(pid);
    if (process.platform === 'darwin') return psEntry(pid);
    return null;
  } catch {
    return null;
  }
}

function linuxEntry(pid: number): SystemEntry {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name in parentheses, which may contain anything; the state is the third field, the
  // start the 22nd: clock ticks since boot, so the boot belongs to it.
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return { state: afterName[0] ?? '', start: `${boot} ${afterName[19]}` };
}

function psEntry(pid: number): SystemEntry | null {
  const text = execFileSync('/bin/ps', ['-o', 'state=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const found = /^\s*(\w)\S*\s+(.+?)\s*$/.exec(text);
  return found ? { state: found[1] ?? '', start: found[2] ?? '' } : null;
}
