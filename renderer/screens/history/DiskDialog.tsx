import { useMutation, useQueries } from '@tanstack/react-query';
import { Button } from '@mantine/core';
import { Dialog } from '../../components/Dialog.tsx';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { engine, queries } from '../../state/connection.ts';
import { askAgain } from '../../state/queryClient.ts';
import { idle } from '../../components/idle.ts';
import { isAtWork } from '../../../electron/contract/runState.ts';
import classes from './History.module.css';

/** The folders of older runs are measured one by one, which is slow on a slow disk. */
const MOST_LOOKED_AT = 200;

const mayClean = (run: RunSummary, size: { workBytes: number } | undefined) =>
  size !== undefined && size.workBytes > 0 && !isAtWork(run);

/** The disk space of each run, the largest first, and what can be deleted without losing results. */
export function DiskDialog({ runs, onClose }: { runs: readonly RunSummary[]; onClose: () => void }) {
  const { t, format } = useTexts();
  const there = runs.filter((run) => !run.missing).slice(0, MOST_LOOKED_AT);
  const sizes = useQueries({
    queries: there.map(({ runId }) => queries.runs.folderSize.queryOptions({ input: { runId } })),
  });
  const clean = useMutation({
    mutationFn: (runId: string) => engine.runs.remove({ runId, files: 'work' }),
    onSettled: () => askAgain(queries.runs.folderSize.key()),
  });
  const rows = there
    .map((run, index) => ({ run, size: sizes[index]?.data }))
    .toSorted((a, b) => (b.size?.bytes ?? 0) - (a.size?.bytes ?? 0));
  const sum = (value: (row: (typeof rows)[number]) => number) =>
    rows.reduce((total, row) => total + value(row), 0);
  const isComplete = rows.every(({ size }) => size !== undefined);
  return (
    <Dialog opened onClose={onClose} title={t('disk.title')} size="lg">
      <p className="muted" style={{ marginTop: 0 }} aria-live="polite">
        {isComplete
          ? t('disk.total', {
              size: format.fileSize(sum(({ size }) => size?.bytes ?? 0)),
              work: format.fileSize(sum(({ size }) => size?.workBytes ?? 0)),
              count: rows.length,
            })
          : t('disk.looking')}
      </p>
      <ul className={`plain-list ${classes.disk}`}>
        {rows.map(({ run, size }) => (
          <li key={run.runId}>
            <span className="ellipsis" title={run.folder}>
              {run.name}
            </span>
            <span>{size ? format.fileSize(size.bytes) : '…'}</span>
            <Button
              size="compact-sm"
              variant="default"
              {...idle(!mayClean(run, size))}
              title={t('history.deleteText.work')}
              onClick={() => {
                if (mayClean(run, size) && !clean.isPending) clean.mutate(run.runId);
              }}
            >
              {size && size.workBytes > 0
                ? t('disk.clean', { size: format.fileSize(size.workBytes) })
                : t('disk.nothing')}
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
