/** As a POSIX shell takes it; for most words that is as it stands. */
export function quotedForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
