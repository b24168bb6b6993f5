export interface ProcessExit {
  code: number | undefined;
  signal: string | undefined;
  /** Last lines of standard error. */
  lastLines: readonly string[];
}

const WINDOWS_STATUS: Readonly<Record<number, string>> = {
  0xc0000005: 'it read memory that is not its own (access violation), often a driver or hardware fault',
  0xc0000374: 'its memory was damaged (heap corruption)',
  0xc0000135: 'a system library is missing; install the Microsoft Visual C++ runtime',
  0xc0000142: 'a system library could not be started',
};

/** How a process ended, in plain words. */
export function describeExit(exit: ProcessExit): string {
  if (exit.signal === 'SIGKILL' || exit.code === 137) {
    return 'it was killed, most often because the computer ran out of memory';
  }
  if (exit.signal === 'SIGSEGV' || exit.code === 139) {
    return 'it crashed (segmentation fault), often a driver or hardware fault';
  }
  if (exit.signal) return `it was ended by the signal ${exit.signal}`;
  if (exit.code !== undefined) {
    const words = WINDOWS_STATUS[exit.code >>> 0];
    if (words) return words;
    const lastLine = exit.lastLines.findLast((line) => line.trim() !== '');
    return `it ended with exit code ${exit.code}${lastLine ? ` (${lastLine.trim()})` : ''}`;
  }
  return 'it could not be started';
}
