import { implement } from '@orpc/server';
import { contract } from '../../../electron/contract/index.ts';
import { computerRouter } from './router/computerRouter.ts';
import { computersRouter } from './router/computersRouter.ts';
import { resultsRouter } from './router/resultsRouter.ts';
import { runsRouter } from './router/runsRouter.ts';
import { World, type MemoryEngineOptions } from './world.ts';

export type { MemoryEngineOptions } from './world.ts';

/**
 * Implements the contract without an engine: an invented world held in memory, for tests of the window and for measuring it. It
 * never ships. Its answers are invented; the contract's schemas check that they have the contract's form.
 */
export function createMemoryEngine(options: MemoryEngineOptions = {}) {
  const world = new World(options);
  const os = implement(contract);
  const router = os.router({
    runs: runsRouter(world),
    results: resultsRouter(world),
    computer: computerRouter(world),
    computers: computersRouter(options.computers),
    shell: {
      chooseFiles: os.shell.chooseFiles.handler(() => ({ paths: [] })),
      chooseFolder: os.shell.chooseFolder.handler(() => ({ path: null })),
      chooseSaveFile: os.shell.chooseSaveFile.handler(() => ({ path: null })),
      savePicture: os.shell.savePicture.handler(() => ({ path: null })),
      grantPaths: os.shell.grantPaths.handler(() => undefined),
      revealInFolder: os.shell.revealInFolder.handler(() => undefined),
      openExport: os.shell.openExport.handler(() => undefined),
      restart: os.shell.restart.handler(() => undefined),
      copyText: os.shell.copyText.handler(() => undefined),
      searchBlast: os.shell.searchBlast.handler(() => undefined),
    },
  });
  return {
    router,
    changeRun: (runId: string, change: Parameters<World['change']>[1]) => {
      world.change(runId, change);
    },
    runs: () => world.runs,
  };
}
