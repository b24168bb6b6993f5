import { appError, err, ok, type Result } from '../../contract/errors.ts';
import { isBelowOne, realPath, type PathPolicy } from '../../engine/index.ts';

/**
 * Paths that the user has given to this program: dropped on the window, or chosen in a dialog. A page can't
 * add paths itself: dropped files are reported by the preload script, which gets them from the operating
 * system.
 */
export class GrantedPaths implements PathPolicy {
  readonly root = null;
  private readonly granted = new Set<string>();
  private adding: Promise<void> = Promise.resolve();

  add(paths: readonly string[]): void {
    this.adding = this.adding.then(async () => {
      for (const path of paths) this.granted.add(await realPath(path));
    });
  }

  readonly allows = async (path: string): Promise<boolean> => {
    const real = await realPath(path);
    await this.adding;
    return isBelowOne(this.granted, real);
  };

  readonly refusal = (path: string) =>
    appError('input_unreadable', `${path} has not been chosen here.`, {
      nextStep: 'Drop it on the window, or choose it with the button.',
    });

  /** Refuses what neither a dialog nor the preload script has given, which reports a path before the page can name it. */
  async confirm(paths: readonly string[]): Promise<Result<void>> {
    for (const path of paths) if (!(await this.allows(path))) return err(this.refusal(path));
    return ok(undefined);
  }
}
