import { create } from 'zustand';
import { OFFLINE_LIST, OFFLINE_PACKING, type StepProgress } from '../../../electron/contract/index.ts';
import { sayError } from '../say.ts';
import { engine } from '../connection.ts';
import { useEnvironment } from './environment.ts';
import { go } from '../navigation.ts';
import { chooseFolder } from '../pathChooser.ts';
import { askAgain } from '../queryClient.ts';

/** The state of the dialog about offline folders. */
type OfflineDialog =
  | { readonly shows: 'folder'; readonly folder: string }
  /** A folder was dropped in a browser, which doesn't reveal its path. */
  | { readonly shows: 'drop_in_browser' };

export const useOffline = create<{ readonly dialog: OfflineDialog | null }>(() => ({ dialog: null }));

export const closeOffline = () => useOffline.setState({ dialog: null });

export async function chooseOfflineFolder(): Promise<void> {
  const folder = await chooseFolder('offline');
  if (folder !== null) useOffline.setState({ dialog: { shows: 'folder', folder } });
}

/** Whether the dropped path is a folder for setting up, recognised by its contents; if so, opens its dialog. */
export async function takesOfflineFolder(paths: readonly string[]): Promise<boolean> {
  const [folder] = paths;
  if (folder === undefined || paths.length > 1) return false;
  const found = await engine.computer.lookAtOfflineFolder({ folder });
  if (found.state === 'other') return false;
  useOffline.setState({ dialog: { shows: 'folder', folder } });
  return true;
}

/** A browser hands over the files of a dropped folder one by one. Files of an offline folder are gigabytes that nobody should upload. */
export function takesOfflineDrop(files: readonly File[]): boolean {
  if (!files.some(({ name }) => name === OFFLINE_LIST || name === OFFLINE_PACKING)) return false;
  useOffline.setState({ dialog: { shows: 'drop_in_browser' } });
  return true;
}

/** Like every set-up, it shows its progress in the first steps. */
export async function setUpFromFolder(folder: string): Promise<void> {
  closeOffline();
  go({ screen: 'start' });
  let error: StepProgress['error'] = null;
  for await (const progress of await engine.computer.setUpFromFolder({ folder })) error = progress.error;
  askAgain();
  // If nothing worked before, the first steps show the error.
  if (error !== null && useEnvironment.getState().status?.state === 'ready') sayError(error);
}
