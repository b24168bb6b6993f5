import { appendFileSync } from 'node:fs';

/** Appends lines with their time; a log that can't be written never stops a run. */
export function logTo(path: string | undefined): (line: string) => void {
  if (path === undefined) return () => undefined;
  return (line) => {
    try {
      appendFileSync(path, `${new Date().toISOString()} ${line}\n`);
    } catch {
      // The run matters more than its log.
    }
  };
}
