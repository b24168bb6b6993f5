import { z } from 'zod';
import { SHORTLIST } from './evidence.ts';
import { demoMark, DEMO_SUFFIX, type PlanModel } from './plan.ts';
import type { SequenceFilter } from './rpc/results.ts';
import type { RunState } from './runState.ts';

/** In the order in which a user is offered them. */
export const exportFormatSchema = z.enum([
  'xlsx',
  'tsv',
  'csv',
  'json',
  'parquet',
  'fasta',
  'proteins',
  'gff3',
  'bed',
  'bedgraph',
  'multiqc',
  'embeddings',
  'devices',
  'report',
]);
export type ExportFormat = z.infer<typeof exportFormatSchema>;

/** Formats that hold the whole run, whatever is selected. */
export const WHOLE_RUN_FORMATS: ReadonlySet<ExportFormat> = new Set([
  'multiqc',
  'embeddings',
  'devices',
  'report',
]);

export const exportLanguageSchema = z.enum(['en', 'de']);
export type ExportLanguage = z.infer<typeof exportLanguageSchema>;

const ENDINGS: Readonly<Record<ExportFormat, string>> = {
  xlsx: '.xlsx',
  tsv: '.tsv',
  csv: '.csv',
  json: '.json',
  parquet: '.parquet',
  fasta: '.fna',
  proteins: '_proteins.faa',
  gff3: '.gff3',
  bed: '.bed',
  bedgraph: '.bedgraph',
  multiqc: '_mqc.json',
  embeddings: '_embeddings.tsv',
  devices: '_devices.csv',
  report: '_report.html',
};

type ExportScope = 'all' | 'virus' | 'shortlist' | 'selected';

/** What a filter selects, in a word for a file's name. */
export function exportScope(filter: SequenceFilter, rows?: readonly number[]): ExportScope {
  if (rows !== undefined) return 'selected';
  const set = Object.entries(filter).filter(([, value]) => value !== undefined);
  if (set.length === 0) return 'all';
  const isExactly = (wanted: SequenceFilter) =>
    set.length === Object.keys(wanted).length &&
    set.every(
      ([key, value]) => JSON.stringify(value) === JSON.stringify(wanted[key as keyof SequenceFilter]),
    );
  if (isExactly({ predictions: ['virus'] })) return 'virus';
  return isExactly(SHORTLIST) ? 'shortlist' : 'selected';
}

const LONGEST_STEM = 80;

/** Stands in the name of a file exported before its run was done. */
const PROVISIONAL_SUFFIX = '_provisional';

interface RunFile {
  runName: string;
  model: Pick<PlanModel, 'notice'>;
  state: RunState;
}

/** How the name of every file that leaves a run begins: `Gut_March`, with what must not be overlooked. */
export function runFileStem({ runName, model, state }: RunFile): string {
  const stem =
    runName
      .replaceAll(/[^\p{L}\p{N}._-]+/gu, '_')
      .replace(/^[._]+/, '')
      .slice(0, LONGEST_STEM) || 'run';
  const mark = demoMark(model) === null || stem.endsWith(DEMO_SUFFIX) ? '' : DEMO_SUFFIX;
  return `${stem}${mark}${state.phase === 'done' ? '' : PROVISIONAL_SUFFIX}`;
}

/** The name of an exported file says what it holds: `Gut_March_virus_1707.tsv`. */
export function exportFileName(
  file: RunFile & { format: ExportFormat; scope: ExportScope; sequences: number },
): string {
  const { format, scope, sequences } = file;
  const holds = WHOLE_RUN_FORMATS.has(format) ? '' : `_${scope}_${sequences}`;
  return `${runFileStem(file)}${holds}${ENDINGS[format]}`;
}
