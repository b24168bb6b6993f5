import { sayError } from '../say.ts';
import { engine, queries } from '../connection.ts';
import { go, goToRun } from '../navigation.ts';
import { chooseFiles } from '../pathChooser.ts';
import { askAgain } from '../queryClient.ts';
import { uploadFile, type Dropped } from '../upload.ts';
import { changeFilter, changeView } from './resultsView.ts';

/** File names of tables, as opposed to sequences. */
const TABLE = /\.(tsv|csv|tab|txt)(\.gz)?$/i;
export const isTable = (name: string): boolean => TABLE.test(name);

/** Lets the user choose a result file of the original VirNucPro to compare with. */
export async function chooseOriginalFile(): Promise<void> {
  const [file] = await chooseFiles('tables');
  if (file !== undefined) changeView({ originalFile: file });
}

/** Lets the user choose tables of other tools and adds them to the results of a run. */
export async function chooseAndAddTables(runId: string): Promise<void> {
  await addTables(runId, await chooseFiles('tables'));
}

/** Adds tables that were dropped on the results of a run. */
export async function addDroppedTables(runId: string, dropped: Dropped): Promise<void> {
  const paths =
    dropped.kind === 'paths'
      ? dropped.paths
      : await Promise.all(dropped.files.map((file) => uploadFile(file, () => undefined)));
  await addTables(runId, paths);
}

async function addTables(runId: string, paths: readonly string[]): Promise<void> {
  try {
    // One after the other, since each is written to the same file.
    for (const path of paths) {
      const { isOriginal } = await engine.results.addOtherTable({ runId, path });
      if (isOriginal) {
        changeView({ originalFile: path });
        go({ screen: 'compare', runId, otherRunId: null });
      } else {
        changeView({ tablesAdded: true });
        goToRun(runId, 'tools');
      }
    }
  } catch (reason) {
    sayError(reason);
  }
  forgetTables();
}

/** Refetches everything that depends on the tables. */
export function forgetTables(): void {
  changeFilter({ other: null });
  askAgain(queries.results.key());
}
