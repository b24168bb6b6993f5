import { createStore, useStore } from 'zustand';
import type { OtherComputer } from '../../../electron/contract/index.ts';
import { sayError } from '../say.ts';
import { chosenComputer, home, homeConnection } from '../connection.ts';

/** Null until the program has answered, and always in a browser, which has no other computers. */
const computersStore = createStore<{ readonly computers: readonly OtherComputer[] | null }>(() => ({
  computers: null,
}));

export const useComputers = () => useStore(computersStore, (state) => state.computers);

/** The other computer that this window shows; null for this one, or until it is known. */
export const useChosenComputer = () =>
  useStore(
    computersStore,
    (state) => state.computers?.find(({ address }) => address === chosenComputer) ?? null,
  );

/** Follows the list of other computers and connects to the one that this window shows. */
export function followComputers(): () => void {
  const stop = new AbortController();
  let following = false;
  const follow = async () => {
    if (following || homeConnection.getState().status !== 'connected') return;
    following = true;
    if (chosenComputer !== null) home.computers.connect({ address: chosenComputer }).catch(sayError);
    try {
      for await (const computers of await home.computers.list(undefined, { signal: stop.signal }))
        computersStore.setState({ computers });
    } catch {
      // A browser refuses this call. Otherwise the link to the program broke, and the list is sent again over the next link.
    } finally {
      following = false;
    }
  };
  void follow();
  const leave = homeConnection.subscribe(() => void follow());
  return () => {
    leave();
    stop.abort();
  };
}

/** Shows another computer in this window, or goes back to this one. */
export function showComputer(address: string | null): void {
  location.assign(address === null ? '/#/runs' : `/?computer=${encodeURIComponent(address)}#/runs`);
}
