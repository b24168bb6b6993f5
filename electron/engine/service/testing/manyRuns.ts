import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runRequestSchema, type RunSummary } from '../../../contract/rpc/runs.ts';
import { openLibraryStore } from '../../store/storeThread.ts';
import { libraryEntry } from '../runs/runSummary.ts';
import { syntheticPlan } from '../../store/testing/syntheticRun.ts';

/** A library with this many finished runs, whose folders hold a run.db that cannot be opened. */
export async function libraryOfRuns(
  { dataDir, storeHost }: { dataDir: string; storeHost: URL },
  count: number,
): Promise<RunSummary[]> {
  await mkdir(dataDir, { recursive: true });
  const library = await openLibraryStore(join(dataDir, 'library.db'), { hostEntry: storeHost });
  const runs: RunSummary[] = [];
  for (let number = 0; number < count; number++) {
    const folder = join(dataDir, 'runs', String(number));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'run.db'), 'damaged');
    const run = syntheticSummary(folder, number);
    runs.push(run);
    await library.saveRun(libraryEntry(run, run.request.inputs));
  }
  await library.close();
  return runs;
}

/** The entry of a finished run in the list, as if it lay in this folder. */
export function syntheticSummary(folder: string, number: number): RunSummary {
  const createdAt = new Date(1_700_000_000_000 + number).toISOString();
  const plan = syntheticPlan(3);
  return {
    runId: randomUUID(),
    folder,
    name: `run ${number}`,
    state: { phase: 'done', failedParts: 0, failedRecords: 0 },
    interrupted: false,
    missing: false,
    createdAt,
    finishedAt: createdAt,
    plan,
    request: runRequestSchema.parse({ inputs: plan.inputs.map(({ path }) => path), model: 'teaching' }),
    goal: null,
    queuePosition: null,
    controls: null,
    starting: false,
    computingSeconds: 60,
    fraction: 1,
    sequences: 1000,
    viralSequences: 10,
    otherSequences: 900,
    samples: [],
    tags: [],
    note: '',
  };
}
