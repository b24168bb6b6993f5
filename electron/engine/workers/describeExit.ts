import { message, type Message } from '../../contract/messages.ts';

export interface ProcessExit {
  code: number | undefined;
  signal: string | undefined;
  /** Last lines of standard error. */
  lastLines: readonly string[];
}

const WINDOWS_STATUS: Readonly<Record<number, Message>> = {
  0xc0000005: message('exit.access_violation'),
  0xc0000374: message('exit.heap_corruption'),
  0xc0000135: message('exit.library_missing'),
  0xc0000142: message('exit.library_failed'),
};

/** How a process ended, in plain words. */
export function describeExit(exit: ProcessExit): string {
  return exitMessage(exit).text;
}

export function exitMessage(exit: ProcessExit): Message {
  if (exit.signal === 'SIGKILL' || exit.code === 137) return message('exit.killed');
  if (exit.signal === 'SIGSEGV' || exit.code === 139) return message('exit.crashed');
  if (exit.signal) return message('exit.signal', { signal: exit.signal });
  if (exit.code === undefined) return message('exit.not_started');
  const known = WINDOWS_STATUS[exit.code >>> 0];
  if (known) return known;
  const line = exit.lastLines.findLast((one) => one.trim() !== '')?.trim();
  return line
    ? message('exit.code_line', { code: exit.code, line })
    : message('exit.code', { code: exit.code });
}
