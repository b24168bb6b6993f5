import type { RunStore } from '../../store/runStoreFace.ts';
import { writeShareList } from '../../store/shares.ts';

/** Writes what the shares of a prepared run need to know about it. */
export async function listForShares(store: RunStore): Promise<void> {
  const { description, plan, prepared } = await store.loadRun();
  if (prepared === null) throw new Error('the run is not prepared');
  const { runId, name, options } = description;
  writeShareList(store.folder, { runId, name, options, plan, prepared, parts: await store.shareParts() });
}
