import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMPARED_TABLES } from '../../../engine/testing/realFiles.ts';

/** Rows of all tables of a disturbed run against those of one that nobody disturbed. */
export interface RowFaults {
  lost: number;
  doubled: number;
  /** Rows of neither kind, tables in another order, or that are missing. */
  changed: number;
}

export type Tables = ReadonlyMap<string, string>;

export function tablesOf(folder: string): Tables {
  return new Map(COMPARED_TABLES.map((name) => [name, textOf(join(folder, name))]));
}

export function compareTables(wanted: Tables, found: Tables): RowFaults {
  const faults = { lost: 0, doubled: 0, changed: 0 };
  for (const [name, text] of wanted) {
    const other = found.get(name) ?? '';
    if (text === other) continue;
    const [rows, others] = [counted(text), counted(other)];
    const before = { ...faults };
    for (const [row, times] of rows) faults.lost += Math.max(0, times - (others.get(row) ?? 0));
    for (const [row, times] of others) {
      const more = Math.max(0, times - (rows.get(row) ?? 0));
      if (rows.has(row)) faults.doubled += more;
      else faults.changed += more;
    }
    const isOnlyOrder = before.lost === faults.lost && before.doubled === faults.doubled;
    if (isOnlyOrder && before.changed === faults.changed) faults.changed += 1;
  }
  return faults;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function counted(text: string): Map<string, number> {
  const rows = new Map<string, number>();
  for (const row of text.split('\n')) rows.set(row, (rows.get(row) ?? 0) + 1);
  return rows;
}
