import { resolve } from 'node:path';
import { err, failWith, ok, type Result } from '../../../contract/errors.ts';
import { message } from '../../../contract/messages.ts';
import { differenceOf, type Plan } from '../../../contract/plan.ts';
import type { RunRequest } from '../../../contract/rpc/runs.ts';
import type { EngineContext } from '../engineContext.ts';
import { isRunFolder } from '../../store/runFolder.ts';
import { openRunStore } from '../../store/runStore.ts';
import { describeStoreError } from '../../store/sqlite/database.ts';
import type { StoredPart, StoredRun } from '../../store/types.ts';

/** A finished run whose parts a new one takes over. */
export interface EarlierRun extends Pick<StoredRun, 'plan' | 'inputs'> {
  folder: string;
  done: StoredPart[];
}

const otherRun = (folder: string) => failWith('usage', message('start.other_run', { folder }));

/** Null if no run of this program was named. */
export async function readEarlier(
  { storeHost, closing }: EngineContext,
  named: string | undefined,
): Promise<Result<EarlierRun | null>> {
  if (named === undefined || !isRunFolder(named)) return ok(null);
  const folder = resolve(named);
  try {
    const store = await openRunStore(folder, { hostEntry: storeHost, closing, readOnly: true });
    try {
      const { plan, inputs, state } = await store.loadRun();
      if (state.phase !== 'done') return otherRun(folder);
      return ok({ folder, plan, inputs, done: await store.partsIn('done') });
    } finally {
      await store.close();
    }
  } catch (reason) {
    return err(describeStoreError(reason, folder));
  }
}

/** Parts have the same bytes, and scores the same bits, only if both runs cut and compute alike. */
export const asInEarlier = (request: RunRequest, earlier: EarlierRun | null): RunRequest =>
  earlier === null
    ? request
    : {
        ...request,
        precision: request.precision === 'auto' ? earlier.plan.precision : request.precision,
        tokensPerBatch: earlier.plan.tokensPerBatch,
        residuesPerPart: earlier.plan.residuesPerPart,
        order: earlier.plan.order,
      };

/** Scores alone are taken over, of a run with the same first look. */
export function givesParts(
  earlier: EarlierRun | null,
  plan: Parameters<typeof differenceOf>[1] & Pick<Plan, 'embeddings'>,
): Result<void> {
  if (earlier === null) return ok(undefined);
  const isSame = differenceOf(earlier.plan, { ...plan, secondLook: undefined }) === null;
  const gives = isSame && !earlier.plan.imported && plan.embeddings === null;
  return gives ? ok(undefined) : otherRun(earlier.folder);
}

/**
 * The work that a run need not do whose inputs have these SHA-256. Parts are the same up to the first input
 * that differs; an even sample is another one if any does.
 */
export function workTakenOver({ plan, inputs, done }: EarlierRun, contents: readonly string[]) {
  const used = inputs.filter(({ failure }) => failure === null);
  const other = used.find(
    ({ input, sha256 }, place) => sha256 !== contents[place] || plan.inputs[input]?.added !== undefined,
  );
  const isSame = other === undefined && used.length === contents.length;
  const rows = other ? (other.prepared?.firstRow ?? 0) : Infinity;
  const taken = done.filter(
    ({ parent, lastRow }) => parent === null && lastRow < rows && (isSame || plan.order === 'file'),
  );
  const sum = (of: 'frames' | 'residues') => taken.reduce((all, part) => all + part[of], 0);
  return { frames: sum('frames'), residues: sum('residues') };
}
