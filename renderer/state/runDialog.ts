import { create } from 'zustand';

export type RunDialog = 'devices' | 'rename' | 'annotate' | 'verify' | 'delete';

interface OpenDialog {
  readonly runId: string;
  readonly dialog: RunDialog;
}

/** The dialog of a run that was asked for from anywhere. */
export const useRunDialog = create<{ open: OpenDialog | null }>(() => ({ open: null }));

export const openRunDialog = (runId: string, dialog: RunDialog) =>
  useRunDialog.setState({ open: { runId, dialog } });

export const closeRunDialog = () => useRunDialog.setState({ open: null });
