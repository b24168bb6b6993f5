import { join } from 'node:path';
import { modelMark, type Plan } from '../../../contract/plan.ts';
import { RESULT_FILES } from '../../../contract/results.ts';
import { deleteInRun } from '../../files/runFiles.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import type { ExtractRecords } from '../../inputs/extractRecords.ts';

const ROWS_FILE = 'viral_rows.u32.tmp';
/** Viral sequences of merged runs, collected here before the tables are written. */
export const MERGED_SEQUENCES = 'work/viral_sequences.fna';

/**
 * Writes viral_sequences.fna: the records called virus, unchanged from the inputs, in the order of the run.
 * `extract` streams the inputs once more and checks their hashes. Returns the number of records.
 */
export async function writeViralSequences(
  store: Pick<RunStore, 'folder' | 'writeViralRows'>,
  { inputs, model, repairs }: Pick<Plan, 'inputs' | 'model' | 'repairs'>,
  extract: ExtractRecords,
): Promise<number> {
  const rowsPath = join(store.folder, ROWS_FILE);
  try {
    const count = await store.writeViralRows(rowsPath);
    await extract({
      inputs,
      rowsPath,
      outPath: join(store.folder, RESULT_FILES.viralSequences),
      headerSuffix: modelMark(model) ?? '',
      repairs,
    });
    return count;
  } finally {
    deleteInRun(store.folder, ROWS_FILE);
  }
}
