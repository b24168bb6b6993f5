import type { RunSummary } from '../../../electron/contract/index.ts';
import { Guarded } from '../../components/feedback/Guarded.tsx';
import { closeRunDialog, useRunDialog, type RunDialog } from '../../state/runs/runDialog.ts';
import { useRuns } from '../../state/runs/runs.ts';
import { DiagnosticsDialog } from '../computer-check/DiagnosticsDialog.tsx';
import { LogDialog } from '../files/LogDialog.tsx';
import { AnnotateDialog } from './AnnotateDialog.tsx';
import { ExportDialog } from '../results/ExportDialog.tsx';
import { ReportDialog } from '../results/ReportDialog.tsx';
import { DevicesDialog } from './DevicesDialog.tsx';
import { DeleteDialog } from './DeleteDialog.tsx';
import { VerifyDialog } from './VerifyDialog.tsx';

const DIALOGS = {
  devices: DevicesDialog,
  annotate: AnnotateDialog,
  verify: VerifyDialog,
  delete: DeleteDialog,
  export: ExportDialog,
  report: ReportDialog,
  log: RunLogDialog,
} as const;

/** It contains more than the events: how each device did, minute by minute. */
const RUN_LOG = 'logs/run.log';

function RunLogDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  return <LogDialog runId={run.runId} path={RUN_LOG} onClose={onClose} />;
}

interface DialogOfRunProps {
  run: RunSummary;
  dialog: RunDialog;
  onClose: () => void;
}

export function DialogOfRun({ run, dialog, onClose }: DialogOfRunProps) {
  const Dialog = DIALOGS[dialog];
  return <Dialog run={run} onClose={onClose} />;
}

/** Renders the dialog that was opened from any screen. */
export function RunDialogs() {
  const open = useRunDialog((state) => state.open);
  return (
    <Guarded what="floating" resetKeys={[open]}>
      <OpenDialog open={open} />
    </Guarded>
  );
}

function OpenDialog({ open }: Pick<ReturnType<typeof useRunDialog.getState>, 'open'>) {
  const runs = useRuns((state) => state.runs);
  if (open?.dialog === 'diagnostics') return <DiagnosticsDialog onClose={closeRunDialog} />;
  if (!open || !runs) return null;
  const run = runs.find(({ runId }) => runId === open.runId);
  return run ? <DialogOfRun run={run} dialog={open.dialog} onClose={closeRunDialog} /> : null;
}
