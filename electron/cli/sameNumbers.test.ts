import { createRouterClient } from '@orpc/server';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { predictionSchema } from '../contract/results.ts';
import { runRequestSchema } from '../contract/rpc/runs.ts';
import { ExportSource } from '../engine/exports/exportSource.ts';
import { reportFacts } from '../engine/exports/report/reportFacts.ts';
import type { RunState } from '../contract/runState.ts';
import { serviceRouter } from '../engine/service/router/index.ts';
import type { Service } from '../engine/service/service.ts';
import { openTestService } from '../engine/service/testing/testService.ts';
import type { WindowContext } from '../engine/service/window/windowContext.ts';
import type { RunStore } from '../engine/store/runStore.ts';
import { compute, preparedRun } from '../engine/store/testing/storeFixture.ts';
import { recordOf, syntheticPlan } from '../engine/store/testing/syntheticRun.ts';
import { removeTemporaryFolders } from '../engine/testing/temporaryFolder.ts';
import { testContext } from '../engine/testing/testContext.ts';
import { results } from './commands/results/results.ts';
import { status } from './commands/run/status.ts';

let service: Service;
beforeAll(async () => ({ service } = await openTestService()));
afterAll(async () => {
  await service.close();
  await removeTemporaryFolders();
});
afterEach(() => vi.restoreAllMocks());

const STATES = {
  interrupted: { phase: 'running' },
  paused: { phase: 'paused', error: null },
  enough: { phase: 'paused', error: null, enough: { kind: 'half_width', share: 0.5 } },
  doneWithFailures: { phase: 'done', failedParts: 1, failedRecords: 1 },
  done: { phase: 'done', failedParts: 0, failedRecords: 0 },
} satisfies Record<string, RunState>;

interface Made {
  /** The open frames of each chunk of each sequence of each file. */
  files: number[][][];
  state: keyof typeof STATES;
  /** The share of the parts that is computed. */
  computed: number;
  order: 'sample' | 'file';
}

async function makeRun({ files, state, computed, order }: Made): Promise<RunStore> {
  const records = files.map((file, input) => file.map((masks, i) => recordOf(`${input}_${i}`, masks)));
  const details = files.map((_, input) => ({ group: null, note: null, control: input === 0 }));
  const options = {
    samples: files.map((_, input) => (input === 0 ? 'blank' : 'gut')),
    sampleDetails: details,
    request: runRequestSchema.parse({ inputs: syntheticPlan(files.length).inputs.map(({ path }) => path) }),
  };
  const run = await preparedRun(records, 4, { order }, { runId: randomUUID(), options });
  const { store } = run;
  const pending = (await store.pendingParts()).map(({ key }) => key);
  const wanted = state === 'done' ? pending.length : Math.floor(computed * pending.length);
  for (const key of pending.slice(0, wanted)) await compute(run, key);
  if (STATES[state].phase === 'done') {
    await store.skipParts(pending.slice(wanted));
    const { files: written } = await store.writeTables();
    await store.saveResultFiles(written);
  }
  await store.setState(STATES[state]);
  return store;
}

async function printed(print: () => Promise<number>): Promise<Record<string, unknown>> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await print();
  const text = write.mock.calls.map(([chunk]) => String(chunk)).join('');
  write.mockRestore();
  return JSON.parse(text) as Record<string, unknown>;
}

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item> {
  for await (const item of items) return item;
  throw new Error('There is none');
}

async function compareAllPlaces(made: Made): Promise<void> {
  const store = await makeRun(made);
  const { folder } = store;
  const isDone = STATES[made.state].phase === 'done';
  const client = createRouterClient(serviceRouter(service), { context: { window: {} as WindowContext } });
  const { runId, ...listed } = await service.catalog.add(folder);
  // The window: Results, Samples, the answer above them, and Progress.
  const found = await client.results.samples({ runId });
  const counts = await client.results.counts({ runId, filter: {} });
  expect(counts.byPrediction).toEqual(found.all.byPrediction);
  expect(counts.total).toBe(found.all.sequences);
  for (const { inputs, byPrediction } of found.items)
    expect((await client.results.counts({ runId, filter: { inputs } })).byPrediction).toEqual(byPrediction);
  expect(found.items.reduce((sum, { sequences }) => sum + sequences, 0)).toBe(found.all.sequences);
  const blank = found.items.find(({ control }) => control);
  expect(found.inControls?.byPrediction).toEqual(blank?.byPrediction);
  for (const call of predictionSchema.options)
    expect(found.outsideControls.byPrediction[call] + (blank?.byPrediction[call] ?? 0)).toBe(
      found.all.byPrediction[call],
    );
  const live = await firstOf(await client.runs.watch({ runId }));
  const expected = await client.runs.expectedShares({ runId });
  expect(expected === null).toBe(isDone);
  // The list of runs.
  expect(listed.fraction).toBe(live.progress.fraction);
  expect(listed.viralSequences).toBe(isDone ? found.all.byPrediction.virus : null);
  expect(listed.otherSequences).toBe(isDone ? found.all.byPrediction.others : null);
  if (isDone)
    expect(live.progress).toMatchObject({ fraction: 1, remainingSeconds: null, residuesPerSecond: null });
  // The command line.
  const said = await printed(() => status(testContext(), folder, true));
  expect(said).toMatchObject({ found: isDone ? found : null, expected, progress: live.progress });
  const top = await printed(() =>
    results(folder, { filter: [], sort: '-score', with: [], rows: 1, json: true }),
  );
  expect(top['samples']).toEqual(found.items);
  // Files.
  const order = { by: 'row', descending: false } as const;
  const source = await ExportSource.open(store, { filter: {} }, order, { language: 'en' });
  const facts = await reportFacts(source);
  expect(facts.found).toEqual(found);
  expect(facts.timings.workingMilliseconds / 1000).toBe(live.progress.elapsedSeconds);
  if (made.state !== 'interrupted') expect(listed.computingSeconds).toBe(live.progress.elapsedSeconds);
  expect(facts.enough?.shares ?? null).toEqual(made.state === 'enough' ? expected : null);
  await store.close();
  await service.catalog.forget(runId);
  await service.open.closeReader(folder);
}

const sequence = fc.array(fc.integer({ min: 0, max: 63 }), { minLength: 1, maxLength: 3 });

it('every place says the same of a run in whatever state, and none estimates what a finished one shows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        files: fc.array(fc.array(sequence, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 3 }),
        state: fc.constantFrom(...(Object.keys(STATES) as Made['state'][])),
        computed: fc.double({ min: 0, max: 1, noNaN: true }),
        order: fc.constantFrom('sample', 'file'),
      }),
      compareAllPlaces,
    ),
    { numRuns: 8 },
  );
});
