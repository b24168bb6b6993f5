import { join } from 'node:path';
import { asAppError, causeOf, nextStepOf } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { BOUNDED_TOLERANCE, modelMark, type PlanModel } from '../../../contract/plan.ts';
import type { WorkerReady } from '../../../contract/protocol/index.ts';
import { RESULT_FILES, NOTICE_FILE } from '../../../contract/results.ts';
import type { Damage } from '../../../contract/runState.ts';
import type { EngineContext } from '../engineContext.ts';
import { deleteInRun, digestInRun, isPlainFile, renameInRun, replaceInRun } from '../../system/runFiles.ts';
import { Extraction, type ExtractRecords } from '../../inputs/extractRecords.ts';
import { runJson, writeRunJson, readRunReport } from './runJson.ts';
import { damageOf } from '../../results/damage.ts';
import type { TablesWritten } from '../../results/types.ts';
import type { RunStore } from '../../store/runStore.ts';
import { filesLeftOut, inputsRead, type StoredRun } from '../../store/types.ts';
import { HERE } from '../../system/here.ts';
import { noteImbalance, noteUnusualNorms } from '../progress/remarks.ts';
import type { RunNotes } from '../runNotes.ts';

export interface FinishedRun {
  tables: TablesWritten;
  failedParts: number;
  failedRecords: number;
  failedInputs: number;
  damage: Damage;
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
    const run = await store.loadRun();
    const failedInputs = filesLeftOut(run).filter(({ settled }) => !settled).length;
    return {
      tables,
      failedParts,
      failedRecords: byPrediction.failed,
      failedInputs,
      damage: damageOf(run.problems),
    };
  } finally {
    await extraction.dismiss();
  }
}

/** The tables are kept without the sequences: an input that has moved must not undo a finished run. */
async function writeSequences(store: RunStore, notes: RunNotes, extraction: Extraction): Promise<void> {
  const run = await store.loadRun();
  if (isPlainFile(join(store.folder, MERGED_SEQUENCES))) {
    renameInRun(store.folder, MERGED_SEQUENCES, RESULT_FILES.viralSequences);
    return;
  }
  try {
    await writeViralSequences(store, run, (request) => extraction.run(request));
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
  const files = { ...tables.files };
  const addIfThere = async (name: string): Promise<void> => {
    const digest = await digestInRun(store.folder, name);
    if (digest !== null) files[name] = digest;
  };
  await addIfThere(RESULT_FILES.viralSequences);
  await addIfThere(NOTICE_FILE);
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
  await addIfThere(RESULT_FILES.run);
  await store.saveResultFiles(files);
}

/**
 * Writes a notice beside the results of a model that is not for research. It comes first, so that the results
 * never exist without it.
 */
export function writeNoticeFile(folder: string, model: PlanModel): void {
  const mark = modelMark(model);
  if (mark === null) return;
  const text = [
    mark,
    '',
    `All files in this folder were made with "${model.title}".`,
    'Their scores and calls show how the program works; no conclusion may rest on them.',
    'prediction_results.txt and prediction_results_highestscore.csv have the format of the original tool,',
    'which has no place for this note. The other tables name the model in their column "model".',
    '',
  ].join('\n');
  replaceInRun(folder, NOTICE_FILE, Buffer.from(text));
}

const ROWS_FILE = 'viral_rows.u32.tmp';
/** Viral sequences of merged runs, collected here before the tables are written. */
export const MERGED_SEQUENCES = 'work/viral_sequences.fna';

/**
 * Writes viral_sequences.fna: the records called virus, with their letters as in the inputs, in the order of the run.
 * `extract` streams the inputs once more and checks their hashes. Returns the number of records.
 */
export async function writeViralSequences(
  store: Pick<RunStore, 'folder' | 'writeViralRows'>,
  run: Pick<StoredRun, 'inputs' | 'plan'>,
  extract: ExtractRecords,
): Promise<number> {
  const rowsPath = join(store.folder, ROWS_FILE);
  try {
    const count = await store.writeViralRows(rowsPath);
    await extract({
      inputs: inputsRead(run),
      rowsPath,
      outPath: join(store.folder, RESULT_FILES.viralSequences),
      headerSuffix: modelMark(run.plan.model) ?? '',
    });
    return count;
  } finally {
    deleteInRun(store.folder, ROWS_FILE);
  }
}
