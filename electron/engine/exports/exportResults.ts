import type { SequenceSort } from '../../contract/rpc/results.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import type { SequenceSelection } from '../store/duckdb/selection.ts';
import type { RunStore } from '../store/runStoreFace.ts';
import { ExportSource, type SourceOptions } from './exportSource.ts';
import { formatNamed } from './formats.ts';
import { openInputSequences } from './inputSequences.ts';
import { usedColumns } from './table/columns.ts';
import { WholeFile } from './wholeFile.ts';

export interface ExportRequest extends SourceOptions {
  selection: SequenceSelection;
  sort: SequenceSort;
  /** The id of one of EXPORT_FORMATS. */
  format: string;
  path: string;
  /** Called only if sequences are extracted from the inputs. */
  environment: () => Promise<PythonEnvironment>;
}

interface WrittenExport {
  /** Number of sequences in the file. */
  sequences: number;
  bytes: number;
}

/** Writes the selected sequences, in the requested order, to a file that appears complete or not at all. */
export async function exportResults(store: RunStore, request: ExportRequest): Promise<WrittenExport> {
  const { selection, sort } = request;
  const format = formatNamed(request.format);
  const source = await ExportSource.open(store, selection, sort, request);
  let sequences = source.order.length;
  const bytes = await WholeFile.write(request.path, async (file) => {
    const written = await format.write({
      source,
      file,
      columns: () => usedColumns(source, selection),
      withSequences: async (write) => {
        const inputs = await openInputSequences(source, selection, request.environment, request.path);
        try {
          return await write(inputs);
        } finally {
          await inputs.close();
        }
      },
    });
    if (typeof written === 'number') sequences = written;
  });
  return { sequences, bytes };
}
