import { queries } from '../../state/connection.ts';
import { useQuery } from '@tanstack/react-query';
import { Button, Group } from '@mantine/core';
import { Dialog } from '../../components/Dialog.tsx';
import { useEffect, useRef } from 'react';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { useTexts } from '../../i18n/index.ts';
import { useCopy } from '../../state/clipboard.ts';

interface LogDialogProps {
  runId: string;
  /** Null while the dialog is closed. */
  path: string | null;
  onClose: () => void;
}

export function LogDialog({ runId, path, onClose }: LogDialogProps) {
  const { t } = useTexts();
  return (
    <Dialog opened={path !== null} onClose={onClose} title={t('files.log')} size={900}>
      {path !== null && <LogText runId={runId} path={path} />}
    </Dialog>
  );
}

const MOST_LINES = 2000;

function LogText({ runId, path }: { runId: string; path: string }) {
  const { t } = useTexts();
  const box = useRef<HTMLPreElement>(null);
  const log = useQuery(queries.runs.readLog.queryOptions({ input: { runId, path, lines: MOST_LINES } }));
  const text = log.data?.text ?? '';
  useEffect(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [text]);
  const copy = useCopy();
  return (
    <>
      <Group justify="flex-end" mb="sm">
        <Button variant="default" onClick={() => copy.mutate(text)}>
          {t('common.copy')}
        </Button>
      </Group>
      {log.error && <ErrorCard error={log.error} />}
      {log.data?.truncated && <p className="muted">{t('log.truncated', { lines: MOST_LINES })}</p>}
      <pre ref={box} className="text-box" style={{ height: 420 }} tabIndex={0} aria-label={t('files.log')}>
        {log.data ? text || t('log.empty') : t('common.loading')}
      </pre>
    </>
  );
}
