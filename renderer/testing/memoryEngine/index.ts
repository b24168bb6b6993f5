import { implement } from '@orpc/server';
import { contract } from '../../../electron/contract/index.ts';
import { computerRouter } from './router/computerRouter.ts';
import { otherComputers } from './router/computersRouter.ts';
import { resultsRouter } from './router/resultsRouter.ts';
import { runsRouter } from './router/runsRouter.ts';
import { World, type MemoryEngineOptions } from './world.ts';

export type { MemoryEngineOptions } from './world.ts';

const os = implement(contract);

/** Procedures that do nothing, for what no test and no picture asks. */
function silent(group: keyof typeof contract): Record<string, unknown> {
  const procedures = os[group] as unknown as Record<string, { handler(answer: () => undefined): unknown }>;
  return Object.fromEntries(
    Object.keys(contract[group]).map((name) => [name, procedures[name]?.handler(() => undefined)]),
  );
}

/**
 * Implements the contract without an engine: an invented world held in memory, for tests of the window and for measuring it. It
 * never ships. Its answers are invented; the contract's schemas check that they have the contract's form.
 */
export function createMemoryEngine(options: MemoryEngineOptions = {}) {
  const world = new World(options);
  const router = os.router({
    runs: { ...silent('runs'), ...runsRouter(world) },
    results: { ...silent('results'), ...resultsRouter(world) },
    computer: { ...silent('computer'), ...computerRouter(world) },
    computers: { ...silent('computers'), list: otherComputers(options.computers) },
    shell: silent('shell'),
  } as unknown as Parameters<typeof os.router>[0]);
  return {
    router,
    changeRun: (runId: string, change: Parameters<World['change']>[1]) => {
      world.change(runId, change);
    },
    runs: () => world.runs,
  };
}
