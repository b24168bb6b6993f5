import { app } from 'electron';
import { endByForce } from '../../engine/index.ts';

/** Longer than databases take to open on any working disk. */
const PUT_OFF_MS = 15_000;

export interface QuitPutOff {
  /** Stops delaying the quit. Returns whether one was requested meanwhile. */
  end: () => { wasWanted: boolean };
}

/**
 * While the engine is being opened, its databases can't be closed yet: a request to quit waits until they
 * can, or until it is clear that the disk does not respond. Nothing is being computed yet, and SQLite
 * survives a forced end.
 */
export function putOffQuitting(): QuitPutOff {
  let force: NodeJS.Timeout | undefined;
  const putOff = (event: Electron.Event) => {
    event.preventDefault();
    force ??= setTimeout(endByForce, PUT_OFF_MS);
  };
  app.on('before-quit', putOff);
  return {
    end: () => {
      app.off('before-quit', putOff);
      clearTimeout(force);
      return { wasWanted: force !== undefined };
    },
  };
}
