import type { LibraryMethods } from './sqlite/libraryDatabase.ts';
import type { Asked } from './storeProtocol.ts';
import { StoreThread } from './storeThread.ts';

/** Settings, run history and learnt facts about devices, in one database per user. */
export type LibraryStore = Asked<LibraryMethods>;

/** Opens the library database at a path, creating it if there is none. Rejects with AppFailure. */
export async function openLibraryStore(
  path: string,
  { hostEntry }: { hostEntry: URL },
): Promise<LibraryStore> {
  const thread = await StoreThread.open<LibraryMethods>(hostEntry, { store: 'library', path });
  const asked = (thread.names['all'] ?? []).map((name) => [name, thread.method(name)]);
  let closing: Promise<void> | null = null;
  return {
    ...(Object.fromEntries(asked) as LibraryStore),
    close: () => (closing ??= thread.close()),
  };
}
