import { implement } from '@orpc/server';
import { contract } from '../../../electron/contract/index.ts';
import { resultsRouter } from '../../../electron/engine/service/router/resultsRouter.ts';
import { runsRouter as realRunsRouter } from '../../../electron/engine/service/router/runsRouter.ts';
import type { Service } from '../../../electron/engine/service/service.ts';
import type { CallContext } from '../../../electron/engine/service/window/windowContext.ts';
import { computerRouter } from './router/computerRouter.ts';
import { otherComputers } from './router/computersRouter.ts';
import { runsRouter } from './router/runsRouter.ts';
import { StoredRuns } from './storedRuns.ts';
import { World, type MemoryEngineOptions } from './world.ts';

export type { MemoryEngineOptions } from './world.ts';

const os = implement(contract).$context<CallContext>();

/** Procedures that do nothing, for what no test and no picture asks. */
function silent(group: keyof typeof contract): Record<string, unknown> {
  const procedures = os[group] as unknown as Record<string, { handler(answer: () => undefined): unknown }>;
  return Object.fromEntries(
    Object.keys(contract[group]).map((name) => [name, procedures[name]?.handler(() => undefined)]),
  );
}

/** What the real routers need to answer from the folders of the runs. */
function serviceOver(world: World, stored: StoredRuns): Service {
  const service = {
    catalog: { folder: (runId: string) => stored.folder(runId), find: (runId: string) => world.find(runId) },
    open: { read: stored.read.bind(stored) },
    known: { check: () => Promise.resolve() },
  };
  return service as unknown as Service;
}

/**
 * Implements the contract over an invented world, for tests of the window and for measuring it. It never ships. Its runs have real
 * databases, from which the engine's own routers answer; what only devices and other computers could show is invented, in the
 * contract's form.
 */
export function createMemoryEngine(options: MemoryEngineOptions = {}) {
  const world = new World(options);
  const stored = new StoredRuns(world);
  const service = serviceOver(world, stored);
  const { inputs, parts, events, expectedShares, deviceHistory } = realRunsRouter(service);
  const router = os.router({
    runs: {
      ...silent('runs'),
      ...{ inputs, parts, events, expectedShares, deviceHistory },
      ...runsRouter(world, stored),
    },
    results: {
      ...resultsRouter(service),
      // The engine reads them with Python.
      letters: os.results.letters.handler(() => ({
        record: `>k141_7919 flag=1\n${'ACGT'.repeat(160)}\n`,
        protein: `>k141_7919_chunk_1F1\n${'MKVLAAGIVGLLLAQWSEEDRTKLPFHIVMNY'.repeat(5)}\n`,
      })),
    },
    computer: { ...silent('computer'), ...computerRouter(world) },
    computers: { ...silent('computers'), list: otherComputers(options.computers) },
    shell: silent('shell'),
  } as unknown as Parameters<typeof os.router>[0]);
  return {
    router,
    /** No call asks more of its window. */
    context: { window: { shell: 'browser' } } as CallContext,
    changeRun: (runId: string, change: Parameters<World['change']>[1]) => {
      world.change(runId, change);
    },
    runs: () => world.runs,
    close: () => stored.close(),
  };
}
