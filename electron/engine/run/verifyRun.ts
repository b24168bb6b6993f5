import { stat } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { asAppError, usualNextStep } from '../../contract/errors.ts';
import type { VerifiedFile } from '../../contract/rpc/runs.ts';
import type { EngineContext } from './engineContext.ts';
import { digestInRun } from '../system/runFiles.ts';
import { hashFile } from '../system/hashFile.ts';
import { RUN_DATABASE } from '../../contract/folderNames.ts';
import { openRunStore, type RunStore } from '../store/runStore.ts';
import type { StoredRun } from '../store/types.ts';
import { checkResultFiles, damaged, SOUND, unlessUnreadable, type Verdict } from './wholeRun.ts';

const EMBEDDINGS = 'work/embeddings';
const ONLY_BY_A_NEW_RUN = 'The scores do not depend on it; a new run makes it again.';

/**
 * Reads all files of a run: its database, the work files of waiting parts, kept embeddings, its result files,
 * and its inputs if they still exist. Changes nothing. Rejects with AppFailure if the folder holds no run, or
 * can't be read.
 */
export async function verifyRun(
  { storeHost, closing }: Pick<EngineContext, 'storeHost' | 'closing'>,
  folder: string,
): Promise<VerifiedFile[]> {
  const found: VerifiedFile[] = [];
  let store: RunStore | undefined;
  try {
    store = await openRunStore(folder, { hostEntry: storeHost, readOnly: true, closing });
    const run = await store.loadRun();
    const opened = store;
    const database = await unlessUnreadable(folder, () => verifyDatabase(opened));
    found.push({ kind: 'database', path: RUN_DATABASE, ...database });
    found.push(...(await verifyWork(store, run)));
    found.push(...(await verifyEmbeddings(store)));
    if (run.state.phase === 'done') found.push(...(await checkResultFiles(store)));
    for (const input of run.plan.inputs.filter((_, number) => !run.inputs[number]?.failure))
      found.push({ kind: 'input', path: input.path, ...(await verifyInput(input, run.prepared !== null)) });
    return found;
  } catch (reason) {
    const { code, cause, nextStep } = asAppError(reason);
    const database = { kind: 'database', path: RUN_DATABASE } as const;
    if (code === 'run_damaged') return [{ ...database, ...damaged(cause) }];
    // Without the database, nothing says which files there are.
    if (code === 'folder_unreadable') return [{ ...database, verdict: 'unreadable', detail: nextStep }];
    throw reason;
  } finally {
    await store?.close();
  }
}

async function verifyDatabase(store: RunStore): Promise<Verdict> {
  const pages = await store.checkPages();
  if (pages !== null) return damaged(pages);
  const { found } = await store.findDamage();
  return found.length > 0 ? damaged(found.join(' ')) : SOUND;
}

/** One line for all intact work files, and one for each damaged one. */
async function verifyWork(store: RunStore, run: StoredRun): Promise<VerifiedFile[]> {
  const pending = await store.pendingParts();
  if (pending.length === 0) return [];
  const lost = new Set(await store.verifyPendingParts());
  const bad = new Set(pending.filter(({ key }) => lost.has(key)).map(({ path }) => path));
  const again = run.prepared === null ? '' : ' It is made again from the input when the run is resumed.';
  return [
    ...[...bad].map((path) => ({
      kind: 'work' as const,
      path,
      ...damaged(`Missing, unreadable, or not the file that was written.${again}`),
    })),
    ...(bad.size === pending.length ? [] : [{ kind: 'work' as const, path: 'work/parts', ...SOUND }]),
  ];
}

/**
 * One line if all are intact, and one for each damaged one. None if their folder was deleted to save space.
 */
async function verifyEmbeddings(store: RunStore): Promise<VerifiedFile[]> {
  const { folder } = store;
  const files = await store.embeddingFiles();
  if (files.length === 0 || !existsSync(join(folder, EMBEDDINGS))) return [];
  const bad: VerifiedFile[] = [];
  for (const { key, sha256 } of files) {
    const path = `${EMBEDDINGS}/${key}.safetensors`;
    const verdict = await unlessUnreadable(folder, async (): Promise<Verdict> => {
      const found = await digestInRun(folder, path);
      if (found === null) return { verdict: 'missing', detail: ONLY_BY_A_NEW_RUN };
      return found.sha256 === sha256 ? SOUND : damaged(ONLY_BY_A_NEW_RUN);
    });
    if (verdict.verdict !== 'sound') bad.push({ kind: 'work', path, ...verdict });
  }
  return bad.length > 0 ? bad : [{ kind: 'work', path: EMBEDDINGS, ...SOUND }];
}

async function verifyInput(
  { path, sizeBytes, sha256 }: StoredRun['plan']['inputs'][number],
  hasBeenRead: boolean,
): Promise<Verdict> {
  try {
    const info = await stat(path);
    if (info.isFile()) {
      const same = info.size === sizeBytes && (await hashFile(path)) === sha256;
      return same ? SOUND : damaged('It is not the file that the run was made with.');
    }
  } catch (reason) {
    if (!isGone(reason)) return { verdict: 'unreadable', detail: usualNextStep('input_unreadable').text };
  }
  const detail = hasBeenRead ? null : 'The run has not read it to its end and cannot go on without it.';
  return { verdict: 'missing', detail };
}

const isGone = (reason: unknown): boolean =>
  reason instanceof Error && 'code' in reason && (reason.code === 'ENOENT' || reason.code === 'ENOTDIR');

/** Whether everything is intact that the run's results, or its remaining work, depend on. */
export function isRunSound(files: readonly VerifiedFile[]): boolean {
  return files.every(
    ({ kind, verdict, detail }) =>
      verdict === 'sound' || (kind === 'input' && verdict === 'missing' && detail === null),
  );
}
