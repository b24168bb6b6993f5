import type { Plan, PlanModel } from '../../../contract/plan.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PreparedPart, PartDone } from '../../../contract/protocol/index.ts';
import type { RunMethods } from '../runDatabase.ts';
import { openRunStore, type RunStore } from '../runStore.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
import { testBundle } from '../../testing/testBundles.ts';
import type { PartIntake, ResultFileDigest, RunDescription } from '../types.ts';
import {
  DESCRIPTION,
  syntheticPlan,
  writePrepared,
  writeScores,
  type FrameRef,
  type PreparedSizes,
  type SyntheticPrepare,
  type SyntheticRecord,
} from './syntheticRun.ts';

export const HOST_ENTRY = testBundle('storeHost.mjs', new URL('../hostEntry.ts', import.meta.url));

/** A score that depends only on the frame. */
export function scoreOf({ row, chunk, frame }: FrameRef): number {
  const mixed = Math.imul(row * 7919 + chunk * 104_729 + frame * 1_299_709 + 1, 2_654_435_761) >>> 0;
  return Math.fround(mixed / 2 ** 32);
}

export interface PreparedRun<Store = RunStore> {
  folder: string;
  prepared: SyntheticPrepare;
  store: Store;
}

/** A run's database, in threads of its own or in this one. */
export type AnyStore = RunStore | RunMethods;

/** A run whose prepare has finished, in a new folder. */
export async function preparedRun(
  inputs: SyntheticRecord[][],
  sizes: PreparedSizes | number = 8,
  plan: Omit<Partial<Plan>, 'model'> & { model?: Partial<PlanModel> } = {},
  description: Partial<RunDescription> = {},
): Promise<PreparedRun> {
  const folder = join(temporaryFolder(), 'run');
  mkdirSync(folder);
  const prepared = writePrepared(
    folder,
    inputs,
    typeof sizes === 'number' ? { framesPerPart: sizes } : sizes,
  );
  const usual = syntheticPlan(inputs.length);
  const whole = { ...usual, ...plan, model: { ...usual.model, ...plan.model } };
  prepared.inputs.forEach((done, input) => (done.sha256 = whole.inputs[input]!.sha256));
  const create = { plan: whole, description: { ...DESCRIPTION, ...description } };
  const store = await openRunStore(folder, { hostEntry: HOST_ENTRY, create });
  await reportPrepare(store, prepared);
  return { folder, prepared, store };
}

export async function reportPrepare(store: AnyStore, prepared: SyntheticPrepare): Promise<string[]> {
  const answers: string[] = [];
  for (const file of prepared.records) answers.push(await store.ingestRecords(file));
  for (const part of prepared.parts) answers.push(await store.registerPart(part));
  for (const input of prepared.inputs) await store.finishInput(input);
  await store.finishPrepare(prepared.done);
  return answers;
}

/** Writes a scores file for a part of the run, also a bisected one, and returns the worker's report. */
export async function scoresFor(
  { folder, prepared, store }: PreparedRun<AnyStore>,
  key: string,
  score: (frame: FrameRef) => number = scoreOf,
): Promise<PartDone> {
  const part = await store.part(key);
  const frames = prepared.frames.get(key.slice(0, 6))?.slice(part?.frameBegin, part?.frameEnd);
  if (!part || !frames) throw new Error(`no part ${key}`);
  return writeScores(folder, part, key, frames, score);
}

export async function begin(store: AnyStore, part: Pick<PreparedPart, 'key'> | string): Promise<number> {
  const key = typeof part === 'string' ? part : part.key;
  const attempt = await store.startAttempt({
    part: key,
    device: 'cpu:0',
    workerPid: 77,
    startedAt: 1000,
    log: null,
  });
  if (attempt === null) throw new Error(`part ${key} is not pending`);
  return attempt;
}

/** Computes one part from assignment to storing. */
export async function compute(
  run: PreparedRun<AnyStore>,
  key: string,
  score: (frame: FrameRef) => number = scoreOf,
): Promise<PartIntake> {
  const attempt = await begin(run.store, key);
  return run.store.completePart(await scoresFor(run, key, score), attempt, 2000);
}

/** Computes all parts that are left. */
export async function computeAll(
  run: PreparedRun<AnyStore>,
  score: (frame: FrameRef) => number = scoreOf,
): Promise<void> {
  for (const { key } of await run.store.pendingParts()) {
    const { outcome } = await compute(run, key, score);
    if (outcome !== 'taken') throw new Error(outcome);
  }
}

/** Writes the tables of a run that is computed, which is done then. */
export async function finish({ store }: PreparedRun): Promise<Record<string, ResultFileDigest>> {
  const { files } = await store.writeTables();
  await store.saveResultFiles(files);
  await store.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
  return files;
}
