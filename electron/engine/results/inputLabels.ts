/**
 * Short names of inputs for tables: the file's name, with as many parent folders as distinguish it from the
 * others. If the same path is given twice, both keep the full path.
 */
export function inputLabels(paths: readonly string[]): string[] {
  const parts = paths.map((path) => path.split(/[\\/]/).filter((part) => part !== ''));
  return parts.map((own, index) => {
    for (let depth = 1; depth <= own.length; depth++) {
      const label = own.slice(-depth).join('/');
      const isTaken = parts.some((other, i) => i !== index && other.slice(-depth).join('/') === label);
      if (!isTaken) return cellText(label);
    }
    return cellText(paths[index]!);
  });
}

/** Text that stays within one cell of a tab-separated table. */
export function cellText(text: string): string {
  return visibleText(text.replaceAll(/[\t\r\n]+/g, ' '));
}

/** Replaces characters that control a terminal or change the text direction by their number: `\u001b`. */
export function visibleText(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
