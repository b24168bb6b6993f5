/** Lines on standard output, for people. */
export function toStandardOutput(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

export function toStandardError(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/** Names of files and sequences are somebody else's: what would steer the terminal is shown as a question mark. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '?');
}
