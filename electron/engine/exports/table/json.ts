import { exportFormat } from '../format.ts';
import { float32Text } from '../../results/float32Text.ts';
import type { CellValue, Column } from './columns.ts';
import type { ExportSource } from '../exportSource.ts';
import type { WholeFile } from '../wholeFile.ts';

/** One JSON object: facts about the run, and the sequences, one per line; null for missing values. */
async function writeJson(source: ExportSource, columns: readonly Column[], file: WholeFile): Promise<void> {
  const { description, plan, state } = source.run;
  const run = {
    id: description.runId,
    name: description.name,
    model: plan.model.name,
    notice: plan.model.notice,
    ...(state.phase === 'done' ? {} : { provisional: true }),
    precision: plan.precision,
    chunk_length: plan.chunkLength,
  };
  await file.write(`{"run":${JSON.stringify(run)},\n"sequences":[`);
  let between = '\n';
  for await (const page of source.pages()) {
    const lines = page.map((sequence) => {
      const fields = columns.map(
        (column) => `${JSON.stringify(column.name)}:${jsonValue(column, column.value(sequence, source))}`,
      );
      const line = `${between}{${fields.join(',')}}`;
      between = ',\n';
      return line;
    });
    await file.write(lines.join(''));
  }
  await file.write('\n]}\n');
}

/** Scores with the digits of a float32, as in the other tables; another tool's values as it wrote them. */
function jsonValue({ type }: Column, value: CellValue): string {
  return typeof value === 'number' && (type === 'score' || type === 'share')
    ? float32Text(value)
    : JSON.stringify(value);
}

export const json = exportFormat(
  'json',
  'tables',
  {
    en: ['JSON', 'One object per sequence, with the facts of the run'],
    de: ['JSON', 'Ein Objekt je Sequenz, mit den Angaben zum Lauf'],
  },
  async ({ source, columns, file }) => writeJson(source, await columns(), file),
);
