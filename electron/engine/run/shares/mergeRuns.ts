import { randomUUID } from 'node:crypto';
import { closeSync, createReadStream, createWriteStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { appFailure, unwrap, usage } from '../../../contract/errors.ts';
import { differenceOf } from '../../../contract/plan.ts';
import type { PrepareDone } from '../../../contract/protocol/index.ts';
import { RESULT_FILES } from '../../../contract/results.ts';
import { THIS_COMPUTER, type RunRequest } from '../../../contract/rpc/runs.ts';
import { sampleNames } from '../../../contract/samples.ts';
import type { EngineContext } from '../engineContext.ts';
import { openNew, openPlain, pathInRun } from '../../system/runFiles.ts';
import type { FileLock } from '../../system/fileLock.ts';
import {
  checkRunFolder,
  makeRunFolder,
  makeWorkFolders,
  removeRun,
  acquireRunLock,
} from '../../store/runFolder.ts';
import { openRunStore, type RunStore } from '../../store/runStore.ts';
import type { StoredRun } from '../../store/types.ts';
import { createRunStore } from '../createRunStore.ts';
import { MERGED_SEQUENCES } from '../finish/finishRun.ts';
import { signRun } from '../madeHere.ts';
import { OpenRun } from '../openRun.ts';
import { storedRequest } from '../runRecord.ts';
import { findLack } from '../wholeRun.ts';

/** A finished run that becomes part of another; it is not changed. */
interface MergedRun {
  folder: string;
  run: StoredRun;
  prepared: PrepareDone;
  request: RunRequest;
}

/**
 * Merges several finished runs into one, as if all their inputs had been named at once, in the given order.
 * The result has everything but the tables, which `finish` writes. Rejects with AppFailure.
 */
export async function mergeRuns(
  context: EngineContext,
  folders: readonly string[],
  into: string,
  force: boolean,
): Promise<OpenRun> {
  const folder = resolve(into);
  const locks: FileLock[] = [];
  try {
    const runs: MergedRun[] = [];
    for (const one of new Set(folders.map((path) => resolve(path)))) {
      if (one === folder) throw usage(`${one} cannot be merged into itself.`);
      locks.push(await acquireRunLock(one));
      runs.push(await look(context, one));
    }
    refuseMixed(runs);
    const inputs = runs.flatMap(({ run }) => run.plan.inputs.map(({ path }) => path));
    unwrap(await checkRunFolder(folder, force, inputs));
    await makeRunFolder(folder);
    const lock = await acquireRunLock(folder);
    try {
      await removeRun(folder);
      makeWorkFolders(folder);
      await fill(context, folder, runs);
    } finally {
      lock.release();
    }
    return unwrap(await OpenRun.open(context, folder));
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** Reads a run, and compares all of it with its digests. */
async function look({ storeHost, closing }: EngineContext, folder: string): Promise<MergedRun> {
  const store = await openRunStore(folder, { hostEntry: storeHost, closing, readOnly: true });
  try {
    const run = await store.loadRun();
    const { prepared } = run;
    if (run.state.phase !== 'done' || prepared === null)
      throw appFailure('shares_missing', `The run in ${folder} is not finished.`, {
        nextStep: `Finish it: virnucpro resume ${folder}`,
      });
    if (run.plan.imported)
      throw usage(`The run in ${folder} holds embeddings of an earlier tool: it cannot be merged.`);
    const lack = await findLack(store);
    if (lack !== null) {
      const files = `Not as they were written: ${lack.found.join(', ')}.`;
      const what = lack.what === 'scores' ? lack.found.join(' ') : files;
      const nextStep = `Mend it: virnucpro resume ${folder}`;
      throw appFailure('run_damaged', `The run in ${folder} is damaged: ${what}`, { nextStep });
    }
    return { folder, run, prepared, request: storedRequest(run, folder) };
  } finally {
    await store.close();
  }
}

/** All calls of one table must come from one model and one way of reading the inputs. */
function refuseMixed(runs: readonly MergedRun[]): void {
  const [first] = runs;
  if (first === undefined) throw usage('No run was named.');
  for (const { folder, run } of runs) {
    const what = differenceOf(first.run.plan, run.plan);
    if (what !== null)
      throw usage(`The runs in ${first.folder} and ${folder} differ in their ${what}: they are no one run.`);
  }
}

async function fill(context: EngineContext, folder: string, runs: readonly MergedRun[]): Promise<void> {
  const [{ run: first, request: asked }] = runs as [MergedRun];
  const runId = randomUUID();
  const inputs = runs.flatMap(({ run }) => run.plan.inputs);
  const request: RunRequest = {
    ...asked,
    inputs: inputs.map(({ path }) => path),
    outputDir: folder,
    where: THIS_COMPUTER,
    devices: 'auto',
    embeddings: null,
    ...{ name: undefined, samples: undefined },
  };
  const plan = { ...first.plan, inputs, embeddings: null };
  const store = await createRunStore(context, folder, plan, {
    ...{ runId, name: basename(folder) },
    options: {
      request,
      madeHere: signRun(context.paths, folder, runId, request),
      ...samplesOf(runs),
      leftOut: runs.flatMap(({ run }) => run.leftOut.map((one) => ({ ...one }))),
    },
  });
  try {
    await adoptAll(store, runs);
    await gatherSequences(folder, runs);
  } finally {
    await store.close();
  }
}

/** Samples that the user named for a run keep their names. */
function samplesOf(runs: readonly MergedRun[]): { samples?: string[] } {
  const named = runs.map(({ run }) => run.description.options.samples ?? undefined);
  if (named.every((names) => names === undefined)) return {};
  const all = runs.flatMap(
    ({ run }, place) => named[place] ?? sampleNames(run.plan.inputs.map(({ path }) => path)),
  );
  return { samples: all };
}

async function adoptAll(store: RunStore, runs: readonly MergedRun[]): Promise<void> {
  const sum: PrepareDone = {
    ...{ type: 'done', records: 0, chunks: 0, frames: 0, residues: 0, parts: 0 },
    scorable_records: 0,
    not_scored: {},
  };
  let inputs = 0;
  for (const [place, { folder, run, prepared }] of runs.entries()) {
    await store.adoptRun(
      folder,
      { runs: place, inputs, records: sum.records, parts: sum.parts },
      run.problems,
    );
    inputs += run.plan.inputs.length;
    for (const count of ['records', 'chunks', 'frames', 'residues', 'parts', 'scorable_records'] as const)
      sum[count] += prepared[count];
    for (const [reason, count] of Object.entries(prepared.not_scored))
      sum.not_scored[reason] = (sum.not_scored[reason] ?? 0) + count;
  }
  await store.finishPrepare(sum);
}

/** Concatenates the viral sequences of all runs: the inputs may be on the computers that computed them. */
async function gatherSequences(folder: string, runs: readonly MergedRun[]): Promise<void> {
  const path = pathInRun(folder, MERGED_SEQUENCES);
  closeSync(openNew(path));
  // Neither may be a link: somebody who writes to a folder meanwhile must not decide what is read or written.
  for (const { folder: from } of runs)
    await pipeline(
      createReadStream('', { fd: openPlain(pathInRun(from, RESULT_FILES.viralSequences), 'read') }),
      createWriteStream(path, { flags: 'a', flush: true }),
    );
}
