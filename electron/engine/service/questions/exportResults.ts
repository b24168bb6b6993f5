import { randomUUID } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { demoMark, DEMO_SUFFIX, type PlanModel } from '../../../contract/plan.ts';
import type { EngineContext } from '../../engineContext.ts';
import { Extraction } from '../../inputs/extractRecords.ts';
import type { WrittenExport } from '../../store/sqlite/results/exportTable.ts';
import type { SequenceSelection } from '../../store/sqlite/results/sequenceFilter.ts';
import type { RunStore } from '../../store/runStoreFace.ts';

export interface ExportRequest {
  selection: SequenceSelection;
  format: 'tsv' | 'csv' | 'fasta';
  byteOrderMark: boolean;
  path: string;
}

/** Writes the selected sequences to a file that appears whole or not at all. FASTA comes from the inputs, streamed once more. */
export async function exportResults(
  store: RunStore,
  request: ExportRequest,
  context: () => Promise<EngineContext>,
): Promise<WrittenExport> {
  const { selection, format, byteOrderMark, path } = request;
  if (format !== 'fasta') return store.exportTable({ selection, format, byteOrderMark, path });
  await mkdir(dirname(path), { recursive: true });
  const rowsPath = join(tmpdir(), `virnucpro-rows-${randomUUID()}`);
  try {
    const sequences = await store.writeSelectedRows(selection, rowsPath);
    const { plan } = await store.loadRun();
    const { environment } = await context();
    await new Extraction(environment).run({
      inputs: plan.inputs,
      rowsPath,
      outPath: path,
      headerSuffix: demoMark(plan.model) ?? '',
    });
    return { sequences, bytes: (await stat(path)).size };
  } finally {
    await rm(rowsPath, { force: true });
  }
}

/** A name for the file, from the run's. */
export function suggestedName(runName: string, model: PlanModel, format: ExportRequest['format']): string {
  const stem = runName.replaceAll(/[^\p{L}\p{N}._-]+/gu, '_').replace(/^[._]+/, '') || 'sequences';
  const suffix = demoMark(model) === null || stem.endsWith(DEMO_SUFFIX) ? '' : DEMO_SUFFIX;
  return `${stem.slice(0, 80)}${suffix}.${format === 'fasta' ? 'fna' : format}`;
}
