import { create } from 'zustand';

export type RunDialog = 'devices' | 'annotate' | 'verify' | 'delete' | 'export' | 'report' | 'log';

type OpenDialog = { readonly runId: string; readonly dialog: RunDialog } | { readonly dialog: 'diagnostics' };

/** The dialog of a run, or of the program as a whole, which any screen can open. */
export const useRunDialog = create<{ open: OpenDialog | null }>(() => ({ open: null }));

export const openRunDialog = (runId: string, dialog: RunDialog) =>
  useRunDialog.setState({ open: { runId, dialog } });

export const openDiagnostics = () => useRunDialog.setState({ open: { dialog: 'diagnostics' } });

export const closeRunDialog = () => useRunDialog.setState({ open: null });
