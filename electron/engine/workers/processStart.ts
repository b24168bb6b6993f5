import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** When a process of this computer was started, in a form that is only good for comparing: a later process under the same
 * number differs in it. Null if there is no such process, or where the system has no cheap way to say. */
export function processStart(pid: number): string | null {
  try {
    if (process.platform === 'linux') return linuxProcessStart(pid);
    if (process.platform === 'darwin') return psProcessStart(pid);
    return null;
  } catch {
    return null;
  }
}

/** Whether a process of this computer exists, its owner aside. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Clock ticks since boot, with the boot they count from. */
function linuxProcessStart(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name in parentheses and may hold anything; the 22nd field is the start.
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${afterName[19]}`;
}

function psProcessStart(pid: number): string | null {
  const text = execFileSync('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return text.trim() || null;
}
