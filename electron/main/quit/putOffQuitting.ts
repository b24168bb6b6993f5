import { app } from 'electron';
import { endByForce } from '../../engine/index.ts';

/** Longer than databases take to open on any disk that answers. */
const PUT_OFF_MS = 15_000;

export interface QuitPutOff {
  /** From now on quitting is no longer held back. Says whether it was wanted meanwhile. */
  end: () => { wasWanted: boolean };
}

/**
 * While the engine is being opened, its databases can't be closed yet: a wish to quit waits until they can, or until it is clear that the
 * disk does not answer. Nothing is computed yet, and SQLite survives an end by force.
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
