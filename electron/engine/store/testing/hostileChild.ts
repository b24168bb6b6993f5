/**
 * Handles each folder named on standard input, one per line, as the program handles a run's folder, and
 * answers with a line: the error codes when it was opened for reading, and when the run was continued. It is
 * a separate process, so that a hanging one can be ended.
 */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { AppFailure } from '../../../contract/errors.ts';
import { RunLog } from '../../run/runNotes.ts';
import { writeViralSequences } from '../../run/finish/finishRun.ts';
import { deleteRunFiles, runFolderSize, readLog } from '../../service/questions/runFiles.ts';
import { removeWork, acquireRunLock } from '../runFolder.ts';
import { openRunReader, openRunWriter, type RunMethods } from '../runDatabase.ts';
import { describeStoreError } from '../sqlite/database.ts';
import { allOf } from '../storeThread.ts';
import { syntheticPlan } from './syntheticRun.ts';

const QUESTIONS: ((run: RunMethods) => unknown)[] = [
  (run) => run.loadRun(),
  (run) => run.verifyPendingParts(),
  (run) => run.pendingParts(),
  (run) => run.failedParts(10),
  (run) => run.pageEvents(10),
  (run) => run.timings(),
  (run) => run.inputProgress(),
  (run) => run.deviceMeasures(),
  (run) => run.chunksOf(0, 0, 10),
  (run) => run.deriveResults(1000),
  (run) => run.findSequences({ filter: {} }, { by: 'row', descending: false }, 0, 10),
];
const KEYS = ['000000', '000001', '000002', '000003'];
const CHANGES: ((run: RunMethods, folder: string) => unknown)[] = [
  (run) => run.splitPart('000001'),
  (run) => run.skipParts(KEYS),
  (run) => run.writeTables(),
  (run, folder) =>
    writeViralSequences(
      { folder, writeViralRows: (path) => Promise.resolve(run.writeViralRows(path)) },
      { plan: syntheticPlan(1), inputs: [] },
      () => Promise.resolve(),
    ),
];
const LOGS = ['logs/run.log', 'logs/prepare.log', 'logs/shadow', 'logs/../run.db', '../outside/logs/shadow'];

/** The error code that the user would see; `internal` stands for an unexplained error. */
async function codeOf(folder: string, attempt: () => unknown): Promise<string> {
  try {
    await attempt();
    return 'opened';
  } catch (error) {
    const { code, detail = '' } = describeStoreError(error, folder);
    return code === 'internal' && !(error instanceof AppFailure) ? `internal ${detail}` : code;
  }
}

async function lookAt(folder: string): Promise<string> {
  const code = await codeOf(folder, async () => {
    const run = allOf(openRunReader(folder));
    try {
      run.loadRun();
      for (const question of QUESTIONS) await codeOf(folder, () => question(run));
    } finally {
      await run.close();
    }
  });
  for (const log of LOGS) {
    const read = await codeOf(folder, () => {
      if (readLog(folder, log, 10).text.includes('not yours')) throw new Error(`${log} was read`);
    });
    if (read.startsWith('internal')) return read;
  }
  await runFolderSize(folder);
  return code;
}

async function resume(folder: string): Promise<string> {
  const code = await codeOf(folder, async () => {
    const lock = await acquireRunLock(folder);
    try {
      const run = allOf(openRunWriter(folder, null).groups);
      try {
        run.loadRun();
        for (const question of QUESTIONS) await codeOf(folder, () => question(run));
        for (const change of CHANGES) await codeOf(folder, () => change(run, folder));
      } finally {
        await run.close();
      }
    } finally {
      lock.release();
    }
  });
  // Tried even if it was refused: each defence must hold by itself.
  const log = new RunLog(folder);
  log.line('info', 'a line');
  await log.written();
  await codeOf(folder, () => removeWork(folder, true));
  await codeOf(folder, () => deleteRunFiles(folder, 'work'));
  await codeOf(folder, () => deleteRunFiles(folder, 'all'));
  return code;
}

for await (const line of createInterface({ input: process.stdin })) {
  const folder = join(line);
  process.stdout.write(`${JSON.stringify([await lookAt(folder), await resume(folder)])}\n`);
}
