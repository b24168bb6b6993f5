import type { ExportFormat } from '../../contract/exports.ts';
import type { SequenceSort } from '../../contract/rpc/results.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import type { SequenceSelection } from '../store/duckdb/selection.ts';
import { usedColumns } from './table/columns.ts';
import { writeCsv, writeTsv } from './table/delimited.ts';
import { writeEmbeddingRows } from './embeddingRows.ts';
import { ExportSource, type SourceOptions } from './exportSource.ts';
import { writeBed, writeBedGraph, writeGff3 } from './features.ts';
import { openInputSequences, type InputSequences } from './inputSequences.ts';
import { writeJson } from './table/json.ts';
import { writeMeasurements } from './measurements.ts';
import { writeMultiqc } from './multiqc.ts';
import { writeParquet } from './table/parquet.ts';
import { writeReport } from './report/writeReport.ts';
import { writeFasta, writeProteins } from './sequenceFiles.ts';
import { WholeFile } from './wholeFile.ts';
import { writeXlsx } from './table/xlsx.ts';

export interface ExportRequest extends SourceOptions {
  selection: SequenceSelection;
  sort: SequenceSort;
  format: ExportFormat;
  path: string;
  /** Asked for only where sequences are taken out of the inputs. */
  environment: () => Promise<PythonEnvironment>;
}

interface WrittenExport {
  /** In the file. */
  sequences: number;
  bytes: number;
}

/** Writes the selected sequences, in the order asked for, to a file that appears whole or not at all. */
export async function exportResults(store: RunStore, request: ExportRequest): Promise<WrittenExport> {
  const { selection, sort, format } = request;
  const source = await ExportSource.open(store, selection, sort, request);
  let sequences = source.order.length;
  const bytes = await WholeFile.write(request.path, async (file) => {
    switch (format) {
      case 'xlsx':
        return writeXlsx(source, await usedColumns(source, selection), file);
      case 'tsv':
        return writeTsv(source, await usedColumns(source, selection), file);
      case 'csv':
        return writeCsv(source, await usedColumns(source, selection), file);
      case 'json':
        return writeJson(source, await usedColumns(source, selection), file);
      case 'parquet':
        return writeParquet(source, await usedColumns(source, selection), file);
      case 'fasta':
        return withSequences((inputs) => writeFasta(source, inputs, file));
      case 'proteins':
        return withSequences(async (inputs) => {
          sequences = await writeProteins(source, inputs, file);
        });
      case 'gff3':
        return writeGff3(source, file);
      case 'bed':
        return writeBed(source, file);
      case 'bedgraph':
        return writeBedGraph(source, file);
      case 'multiqc':
        return writeMultiqc(source, file);
      case 'devices':
        return writeMeasurements(source, file);
      case 'embeddings':
        return writeEmbeddingRows(source, file);
      case 'report':
        return writeReport(source, file);
    }
  });
  return { sequences, bytes };

  async function withSequences(write: (inputs: InputSequences) => Promise<void>): Promise<void> {
    const inputs = await openInputSequences(source, selection, request.environment, request.path);
    try {
      await write(inputs);
    } finally {
      await inputs.close();
    }
  }
}
