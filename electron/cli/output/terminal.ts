let log: (line: string) => void = () => undefined;

/** From now on, everything printed is logged too. */
export function logTo(write: (line: string) => void): void {
  log = write;
}

/** For the log alone. */
export function toLog(text: string): void {
  log(printable(text));
}

/** Lines on standard output, for people. */
export function toStandardOutput(text: string): void {
  toLog(text);
  process.stdout.write(`${printable(text)}\n`);
}

export function toStandardError(text: string): void {
  toLog(text);
  process.stderr.write(`${printable(text)}\n`);
}

/** Names of files and sequences are somebody else's: what would steer the terminal is shown as a question mark. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '?');
}
