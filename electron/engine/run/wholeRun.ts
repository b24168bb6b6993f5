import { join } from 'node:path';
import { AppFailure, type AppError } from '../../contract/errors.ts';
import { modelMark, type PlanModel } from '../../contract/plan.ts';
import { NOTICE_FILE, RESULT_FILES, TEXT_TABLES } from '../../contract/results.ts';
import type { RunRequest, VerifiedFile } from '../../contract/rpc/runs.ts';
import { describeStoreError } from '../store/sqlite/database.ts';
import type { RunStore } from '../store/runStore.ts';
import { digestInRun, isPlainFile } from '../system/runFiles.ts';

/** What was found about a file. */
export type Verdict = Pick<VerifiedFile, 'verdict' | 'detail'>;

export const SOUND: Verdict = { verdict: 'sound', detail: null };
export const damaged = (detail: string): Verdict => ({ verdict: 'damaged', detail });

/** What a finished run lacks, and one sentence or file name for each thing found. */
export interface Lack {
  what: 'scores' | 'result_files';
  found: readonly string[];
}

/**
 * Whether a finished run is whole: everything stored, and every file that the run leaves, has its digest.
 * Returns what it lacks, or null. Rejects with AppFailure if its plan is damaged, which can't be mended, and if
 * a file can't be read, which says nothing about it.
 */
export async function findLack(
  store: Pick<RunStore, 'folder' | 'loadRun' | 'refuseDamagedPlan' | 'findDamage' | 'resultFiles'>,
): Promise<Lack | null> {
  await store.refuseDamagedPlan();
  const { found } = await store.findDamage();
  if (found.length > 0) return { what: 'scores', found };
  const files = await checkResultFiles(store, (error) => {
    throw new AppFailure(error);
  });
  const amiss = files.filter(({ verdict }) => verdict !== 'sound').map(({ path }) => path);
  return amiss.length > 0 ? { what: 'result_files', found: amiss } : null;
}

/** Compares every file that a finished run leaves with its digest. */
export async function checkResultFiles(
  store: Pick<RunStore, 'folder' | 'loadRun' | 'resultFiles'>,
  unreadable?: (error: AppError) => Verdict,
): Promise<VerifiedFile[]> {
  const { folder } = store;
  const written = await store.resultFiles();
  const checked: VerifiedFile[] = [];
  const { plan, description } = await store.loadRun();
  for (const path of filesOf(plan.model, description.options.request)) {
    const compared = async (): Promise<Verdict> => {
      const found = await digestInRun(folder, path);
      if (found === null) return { verdict: 'missing', detail: null };
      return found.sha256 === written[path]?.sha256 ? SOUND : damaged('It is not the file that was written.');
    };
    checked.push({ kind: 'result', path, ...(await unlessUnreadable(folder, compared, unreadable)) });
  }
  return checked;
}

/** The names of the files of a finished run that are not there; a quick look, which reads none. */
export function missingResults(folder: string, model: PlanModel, request?: Choices): string[] {
  return filesOf(model, request).filter((name) => !isPlainFile(join(folder, name)));
}

type Choices = Pick<RunRequest, 'tables'>;

function filesOf(model: PlanModel, request: Choices = {}): string[] {
  const leftOut = new Set<string>(
    request.tables === 'parquet' ? TEXT_TABLES.map((table) => RESULT_FILES[table]) : [],
  );
  const names = Object.values(RESULT_FILES).filter((name) => !leftOut.has(name));
  return modelMark(model) === null ? names : [...names, NOTICE_FILE];
}

/** What `check` finds; a disk that can't read is reported as that, and as no damage. */
export async function unlessUnreadable<Answer>(
  folder: string,
  check: () => Promise<Answer>,
  unreadable: (error: AppError) => Verdict = ({ nextStep }) => ({ verdict: 'unreadable', detail: nextStep }),
): Promise<Answer | Verdict> {
  try {
    return await check();
  } catch (reason) {
    const error = describeStoreError(reason, folder);
    if (error.code !== 'folder_unreadable') throw reason;
    return unreadable(error);
  }
}
