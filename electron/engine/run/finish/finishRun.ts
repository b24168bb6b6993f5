import { join } from 'node:path';
import { asAppError, causeOf, nextStepOf } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { BOUNDED_TOLERANCE } from '../../../contract/plan.ts';
import type { WorkerReady } from '../../../contract/protocol/index.ts';
import { RESULT_FILES } from '../../../contract/results.ts';
import type { EngineContext } from '../../engineContext.ts';
import { digestInRun, isPlainFile, renameInRun } from '../../files/runFiles.ts';
import { Extraction } from '../../inputs/extractRecords.ts';
import { writeNoticeFile } from './noticeFile.ts';
import { runJson, writeRunJson } from './runJson.ts';
import type { TablesWritten } from '../../results/types.ts';
import { writeViralSequences } from './viralSequences.ts';
import type { RunStore } from '../../store/runStoreFace.ts';
import { HERE } from '../../system/here.ts';
import { noteImbalance } from '../progress/imbalance.ts';
import { noteUnusualNorms } from '../progress/unusualNorms.ts';
import type { RunNotes } from '../runNotes.ts';
import { readRunReport } from './runReport.ts';
import { MERGED_SEQUENCES } from './viralSequences.ts';

export interface FinishedRun {
  tables: TablesWritten;
  failedParts: number;
  failedRecords: number;
  failedInputs: number;
}

/** Derives the results of a run whose parts are all settled and writes every table. */
export async function finishRun(
  context: EngineContext,
  store: RunStore,
  notes: RunNotes,
): Promise<FinishedRun> {
  writeNoticeFile(store.folder, (await store.loadRun()).plan.model);
  const extraction = new Extraction(context.environment);
  try {
    const tables = await store.writeTables(() => writeSequences(store, notes, extraction));
    await noteImbalance(store, notes);
    await noteUnusualNorms(store, notes);
    const { failedParts, byPrediction } = tables.counts;
    const { inputs, leftOut } = await store.loadRun();
    const failedInputs = leftOut.length + inputs.filter(({ failure }) => failure !== null).length;
    return { tables, failedParts, failedRecords: byPrediction.failed, failedInputs };
  } finally {
    await extraction.dismiss();
  }
}

/** The tables are kept without the sequences: an input that has moved must not undo a finished run. */
async function writeSequences(store: RunStore, notes: RunNotes, extraction: Extraction): Promise<void> {
  const { inputs, plan } = await store.loadRun();
  if (isPlainFile(join(store.folder, MERGED_SEQUENCES))) {
    renameInRun(store.folder, MERGED_SEQUENCES, RESULT_FILES.viralSequences);
    return;
  }
  const used = inputs.filter(({ failure }) => failure === null);
  try {
    await writeViralSequences(store, { inputs: used, model: plan.model }, (request) =>
      extraction.run(request),
    );
  } catch (reason) {
    const error = asAppError(reason);
    notes.add(
      'warning',
      'viral_sequences_not_written',
      message('note.sequences_not_written', { cause: causeOf(error), next: nextStepOf(error) }),
      error.detail,
    );
  }
}

/**
 * Writes run.json, which documents how the results were made, and stores the digests of the result files.
 * This comes last, because run.json holds the run's end.
 */
export async function recordRun(
  context: EngineContext,
  store: RunStore,
  tables: TablesWritten,
  worker: WorkerReady | undefined,
): Promise<void> {
  const { run, timings, devices, remarks } = await readRunReport(store);
  const { environment } = context;
  const inputs = await store.inputProgress();
  const viral = await digestInRun(store.folder, RESULT_FILES.viralSequences);
  const files = { ...tables.files, ...(viral === null ? {} : { [RESULT_FILES.viralSequences]: viral }) };
  writeRunJson(
    store.folder,
    runJson(
      run,
      timings,
      devices,
      remarks,
      { ...tables, files },
      {
        appVersion: context.appVersion,
        backendVersion: environment.packages['virnucpro-backend'] ?? null,
        pythonVersion: environment.pythonVersion,
        torchVersion: worker?.torch_version ?? environment.packages['torch'] ?? null,
        platform: `${HERE.platform} ${process.arch}`,
        inputSeconds: inputs.map(({ deviceSeconds }) => deviceSeconds),
        tolerance: BOUNDED_TOLERANCE[run.plan.precision],
      },
    ),
  );
  const itself = await digestInRun(store.folder, RESULT_FILES.run);
  await store.saveResultFiles({ ...files, ...(itself === null ? {} : { [RESULT_FILES.run]: itself }) });
}
