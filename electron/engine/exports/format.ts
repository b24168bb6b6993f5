import type { ExportFormat as DescribedFormat } from '../../contract/exports.ts';
import type { ExportSource } from './exportSource.ts';
import type { InputSequences } from './inputSequences.ts';
import type { Column } from './table/columns.ts';
import type { WholeFile } from './wholeFile.ts';

/** What a format writes from, and where to. */
export interface ExportJob {
  readonly source: ExportSource;
  readonly file: WholeFile;
  /** The columns of a table of sequences: those that at least one selected sequence has a value for. */
  readonly columns: () => Promise<Column[]>;
  /** Takes the selected sequences out of the inputs, and cleans up behind `write`. */
  readonly withSequences: <Answer>(write: (inputs: InputSequences) => Promise<Answer>) => Promise<Answer>;
}

export interface ExportFormat extends DescribedFormat {
  /** Answers with a number where it is not all selected sequences that are in the file. */
  readonly write: (job: ExportJob) => Promise<unknown>;
}

type Texts = [label: string, text: string];

/** A format in the group under which the window offers it. */
export function exportFormat(
  id: string,
  group: DescribedFormat['group'],
  { en, de }: { en: Texts; de: Texts },
  write: ExportFormat['write'],
  more: Partial<Pick<DescribedFormat, 'ending' | 'isOfWholeRun' | 'needsEmbeddings'>> = {},
): ExportFormat {
  const texts = { en: { label: en[0], text: en[1] }, de: { label: de[0], text: de[1] } };
  return { id, group, texts, write, ending: `.${id}`, isOfWholeRun: false, needsEmbeddings: false, ...more };
}
