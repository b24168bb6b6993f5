import type { ExportFormat as DescribedFormat } from '../../contract/exports.ts';
import type { ExportSource } from './exportSource.ts';
import type { InputSequences } from './inputSequences.ts';
import type { Column } from './table/columns.ts';
import type { WholeFile } from './wholeFile.ts';

export interface ExportJob {
  readonly source: ExportSource;
  readonly file: WholeFile;
  /** The columns of a table of sequences: those for which at least one selected sequence has a value. */
  readonly columns: () => Promise<Column[]>;
  /** Extracts the selected sequences from the inputs, and cleans up after `write`. */
  readonly withSequences: <Answer>(write: (inputs: InputSequences) => Promise<Answer>) => Promise<Answer>;
}

export interface ExportFormat extends DescribedFormat {
  /** Returns a number if the file does not contain all selected sequences. */
  readonly write: (job: ExportJob) => Promise<unknown>;
}

type Texts = [label: string, text: string];

export function exportFormat(
  id: string,
  { en, de }: { en: Texts; de: Texts },
  write: ExportFormat['write'],
  more: Partial<Pick<DescribedFormat, 'ending' | 'isOffered' | 'isOfWholeRun' | 'needsEmbeddings'>> = {},
): ExportFormat {
  const texts = { en: { label: en[0], text: en[1] }, de: { label: de[0], text: de[1] } };
  return {
    ...{ id, texts, write, ending: `.${id}`, isOffered: true, isOfWholeRun: false, needsEmbeddings: false },
    ...more,
  };
}
