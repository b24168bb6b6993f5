import { copyFileSync, linkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { asAppError, err, ok, type Result } from '../../../contract/errors.ts';
import { THIS_COMPUTER } from '../../../contract/rpc/runs.ts';
import type { EngineContext } from '../engineContext.ts';
import { isPlainFolder, makeFolderInRun, pathInRun, somethingAt } from '../../system/runFiles.ts';
import type { FileLock } from '../../system/fileLock.ts';
import {
  isRunFolder,
  makeWorkFolders,
  removeRun,
  acquireRunLock,
  runLockHolder,
} from '../../store/runFolder.ts';
import { openRunStore, type RunStore } from '../../store/runStore.ts';
import { readShareList, shareFolder, shareName, type Share, type ShareList } from '../../store/shares.ts';
import { createRunStore } from '../createRunStore.ts';
import { OpenRun } from '../openRun.ts';

/**
 * A process that died on another computer counts as alive for a minute; a requeued share waits that long for
 * it.
 */
const WAIT_FOR_DEAD_MS = 75_000;
const LOOK_EVERY_MS = 1_000;

/**
 * Opens a share of a run for computing, creating it or continuing what an earlier process has left. It is a
 * run of its own below the run's folder, and can be killed and reopened like any other. Null if the share has
 * no parts.
 */
export async function openShare(
  context: EngineContext,
  runFolder: string,
  share: Share,
): Promise<Result<OpenRun | null>> {
  try {
    const list = readShareList(runFolder, share);
    const folder = join(runFolder, ...shareFolder(share).split('/'));
    if (list.parts.length === 0 && !isPlainFolder(folder)) return ok(null);
    makeFolderInRun(runFolder, shareFolder(share));
    await makeShare(context, folder, list, share);
    linkParts(runFolder, folder, list);
    return await OpenRun.open(context, folder);
  } catch (reason) {
    return err(asAppError(reason));
  }
}

/** Waits for the lock where its holder is on another computer, and may be dead. */
async function lockShare(folder: string): Promise<FileLock> {
  for (let waited = 0; ; waited += LOOK_EVERY_MS) {
    try {
      return await acquireRunLock(folder);
    } catch (reason) {
      const patience = runLockHolder(folder)?.host === hostname() ? LOOK_EVERY_MS : WAIT_FOR_DEAD_MS;
      if (asAppError(reason).code !== 'run_locked' || waited >= patience) throw reason;
      await sleep(LOOK_EVERY_MS);
    }
  }
}

async function makeShare(
  context: EngineContext,
  folder: string,
  list: ShareList,
  share: Share,
): Promise<void> {
  const lock = await lockShare(folder);
  try {
    if (await isUsable(context, folder, list)) return;
    await removeRun(folder);
    makeWorkFolders(folder);
    const { plan, name, options } = list;
    const request = options.request && { ...options.request, where: THIS_COMPUTER, devices: 'auto' };
    const store = await createRunStore(context, folder, plan, {
      ...{ runId: crypto.randomUUID(), name },
      options: { request, share: list.runId, shareName: shareName(share) },
    });
    try {
      await store.adoptParts(list.parts, list.prepared);
    } finally {
      await store.close();
    }
  } finally {
    lock.release();
  }
}

/**
 * Whether the files of an earlier process belong to this run in its current reading. Parts that were added
 * since are added to it.
 */
async function isUsable(context: EngineContext, folder: string, list: ShareList): Promise<boolean> {
  if (!isRunFolder(folder)) return false;
  let store: RunStore | undefined;
  try {
    store = await openRunStore(folder, { hostEntry: context.storeHost, closing: context.closing });
    const { description, prepared } = await store.loadRun();
    if (description.options.share !== list.runId || prepared === null) return false;
    // Damaged parts are deleted, and then copied from the list again.
    await store.repairDamage();
    return await store.adoptParts(list.parts, list.prepared);
  } catch {
    return false;
  } finally {
    await store?.close();
  }
}

/** Hard-links the files of its parts, so that a share has all its files in its own folder, like every run. */
function linkParts(runFolder: string, folder: string, { parts }: ShareList): void {
  makeWorkFolders(folder);
  for (const key of new Set(parts.map((part) => part.key.replace(/\..*$/, '')))) {
    const name = `work/parts/${key}.safetensors`;
    const to = pathInRun(folder, name);
    if (somethingAt(to)) continue;
    const from = pathInRun(runFolder, name);
    // A missing file is detected when the parts are compared with their digests.
    if (!somethingAt(from)) continue;
    try {
      linkSync(from, to);
    } catch {
      // Some file systems have no hard links.
      copyFileSync(from, to);
    }
  }
}
