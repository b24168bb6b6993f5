import { columnName, type ColumnKey } from '../../../electron/contract/index.ts';

/** What a column of the table shows besides the exported column of its name. */
const SHOWN_WITH: Readonly<Record<string, readonly string[]>> = {
  shortlisted: ['shortlist'],
  row: ['no'],
  sample: ['group', 'control'],
  length: ['too_short'],
  ribbon: ['n_chunks_scored', 'n_chunks_viral'],
};

/** The columns of exports that say what these columns of the table do. */
export const exportedColumns = (columns: readonly { id: string }[]): string[] => [
  ...new Set(columns.flatMap(({ id }) => [columnName(id as ColumnKey), ...(SHOWN_WITH[id] ?? [])])),
];
