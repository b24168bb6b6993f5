import { dirname } from 'node:path';
import { AppFailure } from '../../../contract/errors.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import type { RunCatalog } from '../runs/runCatalog.ts';
import { isInside, realPath } from './pathInside.ts';
import type { PathPolicy } from './windowContext.ts';

/** Paths that a window may name because the engine knows them itself: its own folders, its runs, their inputs and models. */
export class KnownPaths {
  private readonly paths: AppPaths;
  private readonly catalog: RunCatalog;
  private readonly own: readonly string[];

  constructor(paths: AppPaths, catalog: RunCatalog, resultsFolder: string) {
    this.paths = paths;
    this.catalog = catalog;
    this.own = [paths.resources, paths.dataDir, resultsFolder].map(realPath);
  }

  /** Throws the refusal of the first path that is neither known nor allowed to the window. */
  check(paths: readonly string[], policy: PathPolicy): void {
    for (const path of paths) {
      if (!this.allows(path, policy)) throw new AppFailure(policy.refusal(path));
    }
  }

  allows(path: string, policy: PathPolicy): boolean {
    const real = realPath(path);
    return policy.allows(real) || this.own.some((folder) => isInside(folder, real)) || this.ofRuns(real);
  }

  /** Whether the program put a file there itself, so that a run's results go elsewhere than beside it. */
  isOwn(path: string): boolean {
    const real = realPath(path);
    return [this.paths.resources, this.paths.dataDir].some((folder) => isInside(realPath(folder), real));
  }

  private ofRuns(path: string): boolean {
    return this.catalog.all().some(({ folder, plan, request }) => {
      if (isInside(realPath(folder), path)) return true;
      if (
        plan.inputs.some((input) => path === realPath(input.path) || path === realPath(dirname(input.path)))
      ) {
        return true;
      }
      return path === realPath(plan.model.folder) || path === realPath(request.model);
    });
  }
}
