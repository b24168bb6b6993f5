import { create } from 'zustand';
import {
  OFFLINE_LIST,
  OFFLINE_PACKING,
  type PackOffline,
  type StepProgress,
} from '../../../electron/contract/index.ts';
import { toShownError, type ShownError } from '../../api/callError.ts';
import { sayError } from '../say.ts';
import { engine, queries } from '../connection.ts';
import { useEnvironment } from './environment.ts';
import { go } from '../navigation.ts';
import { chooseFolder } from '../pathChooser.ts';
import { askAgain, queryClient } from '../queryClient.ts';

/** The state of the dialog about offline folders. */
type OfflineDialog =
  | { readonly shows: 'folder'; readonly folder: string }
  /** A folder was dropped in a browser, which doesn't reveal its path. */
  | { readonly shows: 'drop_in_browser' }
  | { readonly shows: 'pack' };

export interface Packing {
  readonly choice: PackOffline;
  readonly progress: StepProgress | null;
  readonly error: ShownError | null;
  readonly done: boolean;
}

interface OfflineState {
  readonly dialog: OfflineDialog | null;
  /** The packing under way, or how it ended. */
  readonly packing: Packing | null;
}

export const useOffline = create<OfflineState>(() => ({ dialog: null, packing: null }));

export const closeOffline = () => useOffline.setState({ dialog: null });

export const isPacking = ({ packing }: OfflineState) =>
  packing !== null && !packing.done && packing.error === null;

export const openPacking = () => useOffline.setState({ dialog: { shows: 'pack' } });

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

let cancelled: PackOffline | null = null;

export async function packOffline(choice: PackOffline): Promise<void> {
  if (isPacking(useOffline.getState())) return;
  const show = (packing: Omit<Packing, 'choice'>) => useOffline.setState({ packing: { choice, ...packing } });
  show({ progress: null, error: null, done: false });
  try {
    for await (const progress of await engine.computer.packOffline(choice)) {
      show({ progress, error: progress.error, done: progress.finished && progress.error === null });
    }
  } catch (reason) {
    show({ progress: null, error: toShownError(reason), done: false });
  }
  if (cancelled === choice) useOffline.setState({ packing: null });
}

/** Follows a packing that another window started, or this one before it was reloaded. */
export async function joinPacking(): Promise<void> {
  const { underWay } = await queryClient.query(
    queries.computer.offlineChoices.queryOptions({ staleTime: 0, gcTime: 0 }),
  );
  if (underWay !== null) await packOffline(underWay);
}

/** What has been packed so far stays in the folder. */
export async function cancelPacking(): Promise<void> {
  cancelled = useOffline.getState().packing?.choice ?? null;
  await engine.computer.cancelPacking();
}

export const forgetPacking = () => useOffline.setState({ packing: null });
