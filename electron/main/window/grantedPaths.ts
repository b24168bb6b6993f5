import { appError, err, ok, type Result } from '../../contract/errors.ts';
import { isBelowOne, realPath, type PathPolicy } from '../../engine/index.ts';

/** The preload script's confirmation uses another channel than the call, and may arrive a moment after it. */
const WAIT_MS = 2_000;

/**
 * Paths that the user has given to this program: dropped on the window, or chosen in a dialog. A page can't
 * add paths itself: dropped files are reported by the preload script, which gets them from the operating
 * system.
 */
export class GrantedPaths implements PathPolicy {
  readonly root = null;
  private readonly granted = new Set<string>();
  private adding: Promise<void> = Promise.resolve();
  private readonly waiting = new Set<() => void>();

  add(paths: readonly string[]): void {
    this.adding = this.adding.then(async () => {
      for (const path of paths) this.granted.add(await realPath(path));
      for (const look of [...this.waiting]) look();
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

  /** Resolves when all of them are granted; refuses what the preload script does not confirm. */
  async confirm(paths: readonly string[]): Promise<Result<void>> {
    const missing = async (): Promise<string | undefined> => {
      for (const path of paths) if (!(await this.allows(path))) return path;
      return undefined;
    };
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const change = this.nextChange(Math.max(0, deadline - performance.now()));
      const refused = await missing();
      if (refused === undefined) return ok(undefined);
      if (performance.now() >= deadline) return err(this.refusal(refused));
      await change;
    }
  }

  /** Resolves when something is granted, or after a while. */
  private nextChange(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        clearTimeout(timer);
        this.waiting.delete(look);
        resolve();
      };
      const timer = setTimeout(look, milliseconds);
      this.waiting.add(look);
    });
  }
}
