import { appError, AppFailure } from '../../contract/errors.ts';
import { embeddings, checkv, checkvNames, fasta, proteins, scoredFasta } from './sequenceFiles.ts';
import { bed, bedgraph, gff3, segments } from './features.ts';
import type { ExportFormat } from './format.ts';
import { devices, multiqc } from './wholeRunFormats.ts';
import { report } from './report/writeReport.ts';
import { csv, tsv, json } from './table/delimited.ts';
import { parquet } from './table/parquet.ts';
import { xlsx } from './table/xlsx.ts';

/** All export formats, in the order in which they are offered. */
export const EXPORT_FORMATS: readonly ExportFormat[] = [
  ...[xlsx, tsv, csv, json, parquet],
  ...[fasta, scoredFasta, checkv, checkvNames, proteins],
  ...[gff3, bed, segments, bedgraph],
  ...[multiqc, embeddings, devices],
  report,
];

export function formatNamed(id: string): ExportFormat {
  const found = EXPORT_FORMATS.find((format) => format.id === id);
  if (found) return found;
  throw new AppFailure(appError('usage', `There is no export as ${id}.`));
}
