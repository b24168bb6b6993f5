import { usage } from '../../../contract/errors.ts';
import { RESULT_FILES, TEXT_TABLES } from '../../../contract/results.ts';
import { exportFormat } from '../format.ts';
import { columnsOfRun } from './columns.ts';
import { writeTsv } from './delimited.ts';

/** The text tables of a finished run, each with the bytes that the run writes. */
export const textTables = TEXT_TABLES.map((table) => {
  const name = RESULT_FILES[table];
  return exportFormat(
    name,
    { en: [name, 'As the run writes it'], de: [name, 'Wie der Lauf sie schreibt'] },
    async ({ source, file }) => {
      if (source.run.state.phase !== 'done')
        throw usage(`${name} is a table of a finished run.`, 'Resume the run, or export it as tsv.');
      if (table === 'sequences') await writeTsv(source, columnsOfRun(source), file);
      else await file.fillByPath((path) => source.store.writeTextTable(table, path));
    },
    { ending: `_${name}`, isOffered: false, isOfWholeRun: true },
  );
});
