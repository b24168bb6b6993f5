const LONGEST_CELL = 40;

/**
 * Lines of a table for a terminal; a column whose heading begins with ">" holds numbers and is right-aligned.
 */
export function textTable(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const names = headings.map((heading) => heading.replace(/^>/, ''));
  const cells = [names, ...rows].map((row) => row.map(shortened));
  const widths = names.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return headings[column]?.startsWith('>') ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Names come from files: characters that would move the terminal's cursor are not printed. */
function shortened(cell: string): string {
  const plain = cell.replaceAll(/\p{Cc}/gu, '?');
  return plain.length > LONGEST_CELL ? `${plain.slice(0, LONGEST_CELL - 1)}…` : plain;
}
