import type { RunSummary } from '../../../electron/contract/index.ts';
import { closeRunDialog, useRunDialog, type RunDialog } from '../../state/runDialog.ts';
import { useRuns } from '../../state/runs.ts';
import { AnnotateDialog } from './AnnotateDialog.tsx';
import { DevicesDialog } from './DevicesDialog.tsx';
import { DeleteDialog } from './DeleteDialog.tsx';
import { RenameDialog } from './RenameDialog.tsx';
import { VerifyDialog } from './VerifyDialog.tsx';

const DIALOGS = {
  devices: DevicesDialog,
  rename: RenameDialog,
  annotate: AnnotateDialog,
  verify: VerifyDialog,
  delete: DeleteDialog,
} as const;

interface DialogOfRunProps {
  run: RunSummary;
  dialog: RunDialog;
  onClose: () => void;
}

export function DialogOfRun({ run, dialog, onClose }: DialogOfRunProps) {
  const Dialog = DIALOGS[dialog];
  return <Dialog run={run} onClose={onClose} />;
}

/** The dialog of a run that the command palette has opened. */
export function RunDialogs() {
  const open = useRunDialog((state) => state.open);
  const run = useRuns((state) => state.runs?.find(({ runId }) => runId === open?.runId));
  return open && run ? <DialogOfRun run={run} dialog={open.dialog} onClose={closeRunDialog} /> : null;
}
