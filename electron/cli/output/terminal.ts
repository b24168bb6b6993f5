let log: (line: string) => void = () => undefined;

/** From now on, everything printed is logged too. */
export function logTo(write: (line: string) => void): void {
  log = write;
}

/** Writes to the log only. */
export function toLog(text: string): void {
  log(printable(text));
}

/** Prints lines for people on standard output. */
export function toStandardOutput(text: string): void {
  toLog(text);
  process.stdout.write(`${printable(text)}\n`);
}

export function toStandardError(text: string): void {
  toLog(text);
  process.stderr.write(`${printable(text)}\n`);
}

/**
 * Names of files and sequences come from elsewhere: control characters that would affect the terminal are
 * shown as a question mark.
 */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '?');
}
