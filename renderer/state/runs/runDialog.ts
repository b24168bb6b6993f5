import { create } from 'zustand';

export type RunDialog = 'devices' | 'rename' | 'annotate' | 'verify' | 'delete' | 'export';

type OpenDialog = { readonly runId: string; readonly dialog: RunDialog } | { readonly dialog: 'disk' };

/** The dialog of a run, or of all, that was asked for from anywhere. */
export const useRunDialog = create<{ open: OpenDialog | null }>(() => ({ open: null }));

export const openRunDialog = (runId: string, dialog: RunDialog) =>
  useRunDialog.setState({ open: { runId, dialog } });

export const openDiskDialog = () => useRunDialog.setState({ open: { dialog: 'disk' } });

export const closeRunDialog = () => useRunDialog.setState({ open: null });
