import { dirname } from 'node:path';
import { appError } from '../contract/errors.ts';
import { err, ok, type Result } from '../contract/result.ts';
import { type PathPolicy, realPath } from '../engine/index.ts';

/** The word of the preload script, which travels another way than the call, may come a moment after it. */
const WAIT_MS = 2_000;

/**
 * What the user has given this program by their own hand: dropped on the window, or chosen in a dialog. A page can't add
 * to it: drops are told by the preload script, which has them from the operating system.
 */
export class GrantedPaths implements PathPolicy {
  readonly root = null;
  private readonly granted = new Set<string>();
  private readonly waiting = new Set<() => void>();

  add(paths: readonly string[]): void {
    for (const path of paths) this.granted.add(realPath(path));
    for (const look of [...this.waiting]) look();
  }

  readonly allows = (path: string): boolean => {
    for (let place = realPath(path); ; place = dirname(place)) {
      if (this.granted.has(place)) return true;
      if (dirname(place) === place) return false;
    }
  };

  readonly refusal = (path: string) =>
    appError('input_unreadable', `${path} has not been chosen here.`, {
      nextStep: 'Drop it on the window, or choose it with the button.',
    });

  /** Resolves when all of them are granted; refuses what the preload script does not confirm. */
  async confirm(paths: readonly string[]): Promise<Result<void>> {
    const missing = (): string | undefined => paths.find((path) => !this.allows(path));
    if (missing() !== undefined) {
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (missing() === undefined) finish();
        };
        const finish = (): void => {
          clearTimeout(timer);
          this.waiting.delete(look);
          resolve();
        };
        const timer = setTimeout(finish, WAIT_MS);
        this.waiting.add(look);
      });
    }
    const refused = missing();
    return refused === undefined ? ok(undefined) : err(this.refusal(refused));
  }
}
