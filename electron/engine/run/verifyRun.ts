import { stat } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { asAppError } from '../../contract/errors.ts';
import { RESULT_FILES } from '../../contract/results.ts';
import type { VerifiedFile } from '../../contract/rpc/runs.ts';
import type { EngineContext } from '../engineContext.ts';
import { digestInRun } from '../system/runFiles.ts';
import { hashFile } from '../system/hashFile.ts';
import { RUN_DATABASE } from '../../contract/folderNames.ts';
import { openRunStore, type RunStore } from '../store/runStore.ts';
import type { ResultFileDigest, StoredRun } from '../store/types.ts';

type Verdict = Pick<VerifiedFile, 'verdict' | 'detail'>;

const EMBEDDINGS = 'work/embeddings';
const ONLY_BY_A_NEW_RUN = 'The scores do not depend on it; a new run makes it again.';

const SOUND: Verdict = { verdict: 'sound', detail: null };
const damaged = (detail: string): Verdict => ({ verdict: 'damaged', detail });

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
    found.push({ kind: 'database', path: RUN_DATABASE, ...(await verifyDatabase(store)) });
    found.push(...(await verifyWork(store, run)));
    found.push(...(await verifyEmbeddings(store)));
    if (run.state.phase === 'done') found.push(...(await verifyResults(store)));
    for (const input of run.plan.inputs)
      found.push({ kind: 'input', path: input.path, ...(await verifyInput(input, run.prepared !== null)) });
    return found;
  } catch (reason) {
    const error = asAppError(reason);
    if (error.code !== 'run_damaged') throw reason;
    return [{ kind: 'database', path: RUN_DATABASE, ...damaged(error.cause) }];
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
      ...damaged(`Missing, or not the file that was written.${again}`),
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
    const found = await digestInRun(folder, path);
    if (found === null) bad.push({ kind: 'work', path, verdict: 'missing', detail: ONLY_BY_A_NEW_RUN });
    else if (found.sha256 !== sha256) bad.push({ kind: 'work', path, ...damaged(ONLY_BY_A_NEW_RUN) });
  }
  return bad.length > 0 ? bad : [{ kind: 'work', path: EMBEDDINGS, ...SOUND }];
}

async function verifyResults(store: RunStore): Promise<VerifiedFile[]> {
  const written = await store.resultFiles();
  const verified: VerifiedFile[] = [];
  for (const path of Object.values(RESULT_FILES))
    verified.push({ kind: 'result', path, ...(await verifyResult(store.folder, path, written[path])) });
  return verified;
}

async function verifyResult(
  folder: string,
  name: string,
  written: Pick<ResultFileDigest, 'sha256'> | undefined,
): Promise<Verdict> {
  const found = await digestInRun(folder, name);
  if (found === null) return { verdict: 'missing', detail: null };
  return found.sha256 === written?.sha256 ? SOUND : damaged('It is not the file that was written.');
}

async function verifyInput(
  { path, sizeBytes, sha256 }: StoredRun['plan']['inputs'][number],
  hasBeenRead: boolean,
): Promise<Verdict> {
  const info = await stat(path).catch(() => undefined);
  if (!info?.isFile()) {
    const detail = hasBeenRead ? null : 'The run has not read it to its end and cannot go on without it.';
    return { verdict: 'missing', detail };
  }
  const same = info.size === sizeBytes && (await hashFile(path).catch(() => null)) === sha256;
  return same ? SOUND : damaged('It is not the file that the run was made with.');
}

/** Whether everything is intact that the run's results, or its remaining work, depend on. */
export function isRunSound(files: readonly VerifiedFile[]): boolean {
  return files.every(
    ({ kind, verdict, detail }) =>
      verdict === 'sound' || (kind === 'input' && verdict === 'missing' && detail === null),
  );
}
