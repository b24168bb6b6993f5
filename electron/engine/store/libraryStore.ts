import type { LibraryMethods } from './sqlite/libraryDatabase.ts';
import { StoreThread } from './storeThread.ts';
import type { LibraryStore } from './types.ts';

/** Opens the library database at a path, making it if there is none. Rejects with AppFailure. */
export async function openLibraryStore(
  path: string,
  { hostEntry }: { hostEntry: URL },
): Promise<LibraryStore> {
  const thread = await StoreThread.open<LibraryMethods>(hostEntry, { store: 'library', path });
  const call =
    <Name extends keyof LibraryMethods>(name: Name) =>
    (...args: Parameters<LibraryMethods[Name]>) =>
      thread.call(name, ...args);
  let closing: Promise<void> | null = null;
  return {
    setting: call('setting'),
    setSetting: call('setSetting'),
    saveRun: call('saveRun'),
    history: call('history'),
    removeRun: call('removeRun'),
    learntBatch: call('learntBatch'),
    saveLearntBatch: call('saveLearntBatch'),
    close: () => (closing ??= thread.close('close')),
  };
}
