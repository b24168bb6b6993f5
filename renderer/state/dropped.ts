import { sayError } from './say.ts';
import { home } from './connection.ts';
import { go, useNavigation } from './navigation.ts';
import { addDropped } from './newRun/store.ts';
import { takesOfflineDrop, takesOfflineFolder } from './computer/offline.ts';
import { addDroppedTables, isTable } from './results/otherTables.ts';
import { isElectron } from './settings.ts';
import { importDropped } from './computer/weights.ts';
import type { Dropped } from './upload.ts';

/** Handles what was dropped on the window: a folder to set up from, weights if models are shown, tables of other tools if results are
 * shown, else sequences. */
export async function takeDropped(files: readonly File[]): Promise<void> {
  try {
    const dropped = await whatWasDropped(files);
    const isOffline =
      dropped.kind === 'files' ? takesOfflineDrop(dropped.files) : await takesOfflineFolder(dropped.paths);
    if (isOffline) return;
    const { route } = useNavigation.getState();
    const names = dropped.kind === 'files' ? dropped.files.map(({ name }) => name) : dropped.paths;
    const takesTables =
      route.screen === 'compare' ||
      (route.screen === 'run' && (route.tab === 'results' || route.tab === 'tools'));
    if (takesTables && names.every(isTable)) {
      await addDroppedTables(route.runId, dropped);
      return;
    }
    if (route.screen === 'models') {
      await importDropped(dropped);
      return;
    }
    go({ screen: 'new-run' });
    await addDropped(dropped);
  } catch (reason) {
    sayError(reason);
  }
}

async function whatWasDropped(files: readonly File[]): Promise<Dropped> {
  const bridge = window.virnucpro;
  if (!isElectron() || !bridge) return { kind: 'files', files };
  const paths = files.map((file) => bridge.pathForFile(file)).filter((path) => path !== '');
  await home.shell.grantPaths({ paths });
  return { kind: 'paths', paths };
}
