import { lstatSync } from 'node:fs';
import { z } from 'zod';
import { appError, AppFailure } from '../../../contract/errors.ts';
import { MOST_OTHER_TABLES, otherRuleSchema } from '../../../contract/otherTools.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { deleteInRun, pathInRun, readPlain, replaceInRun, somethingAt } from '../../files/runFiles.ts';
import { OTHER_TABLES_FILE } from '../../../contract/folderNames.ts';
import { tablesTooLarge, type ReadOtherTable } from './readOtherTable.ts';

/** All windows wait while it is parsed. */
export const MOST_KEPT_BYTES = 2 ** 24;

const storedSchema = z.array(
  z.object({
    title: z.string(),
    file: z.string(),
    rule: otherRuleSchema,
    columns: z.array(z.string()),
    lines: z.array(z.object({ name: z.string(), isVirus: z.boolean(), values: z.array(z.string()) })),
  }),
);

/** The tables of other tools that are stored with a run, in its folder. Empty if the file cannot be read. */
export function storedOtherTables(folder: string): ReadOtherTable[] {
  const path = pathInRun(folder, OTHER_TABLES_FILE);
  if (!somethingAt(path)) return [];
  const text = readPlain(path, MOST_KEPT_BYTES)?.toString('utf8');
  return (parseJson(storedSchema, text) ?? []).slice(0, MOST_OTHER_TABLES);
}

/** A stamp that shows whether they have changed; null if there are none. */
export function stampOfOtherTables(folder: string): string | null {
  const found = lstatSync(pathInRun(folder, OTHER_TABLES_FILE), { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : null;
}

/** Stores a table with the run; it replaces one with the same title. */
export function addOtherTable(folder: string, table: ReadOtherTable): void {
  const others = storedOtherTables(folder).filter(({ title }) => title !== table.title);
  if (others.length >= MOST_OTHER_TABLES)
    throw new AppFailure(
      appError('usage', `A run takes ${MOST_OTHER_TABLES} tables of other tools.`, {
        nextStep: 'Remove one first.',
      }),
    );
  writeOtherTables(folder, [...others, table]);
}

export function removeOtherTable(folder: string, index: number): void {
  writeOtherTables(folder, storedOtherTables(folder).toSpliced(index, 1));
}

function writeOtherTables(folder: string, tables: readonly ReadOtherTable[]): void {
  if (tables.length === 0) {
    deleteInRun(folder, OTHER_TABLES_FILE);
    return;
  }
  const bytes = Buffer.from(JSON.stringify(tables));
  if (bytes.length > MOST_KEPT_BYTES) throw tablesTooLarge();
  replaceInRun(folder, OTHER_TABLES_FILE, bytes);
}
