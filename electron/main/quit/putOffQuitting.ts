import { app } from 'electron';

export interface QuitPutOff {
  /** From now on quitting is no longer held back. Says whether it was wanted meanwhile. */
  end: () => { wasWanted: boolean };
}

/** While the engine is being opened, its databases can't be closed yet: a wish to quit waits until they can. */
export function putOffQuitting(): QuitPutOff {
  let wasWanted = false;
  const putOff = (event: Electron.Event) => {
    event.preventDefault();
    wasWanted = true;
  };
  app.on('before-quit', putOff);
  return {
    end: () => {
      app.off('before-quit', putOff);
      return { wasWanted };
    },
  };
}
