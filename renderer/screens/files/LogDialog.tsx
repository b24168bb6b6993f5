import { queries } from '../../state/connection.ts';
import { useQuery } from '@tanstack/react-query';
import { Button, Group, Switch, TextInput } from '@mantine/core';
import { Dialog } from '../../components/Dialog.tsx';
import { useEffect, useMemo, useRef, useState } from 'react';
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

const FOLLOW_MS = 1500;
const MOST_LINES = 2000;

function LogText({ runId, path }: { runId: string; path: string }) {
  const { t } = useTexts();
  const [search, setSearch] = useState('');
  const [follow, setFollow] = useState(false);
  const box = useRef<HTMLPreElement>(null);
  const log = useQuery(
    queries.runs.readLog.queryOptions({
      input: { runId, path, lines: MOST_LINES },
      refetchInterval: follow && FOLLOW_MS,
    }),
  );
  const text = log.data?.text ?? '';
  const shown = useMemo(() => {
    const wanted = search.trim().toLowerCase();
    return wanted === ''
      ? text
      : text
          .split('\n')
          .filter((line) => line.toLowerCase().includes(wanted))
          .join('\n');
  }, [text, search]);
  useEffect(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [shown]);
  const copy = useCopy();
  return (
    <>
      <Group gap="md" mb="sm" align="center">
        <TextInput
          flex={1}
          placeholder={t('log.filter')}
          aria-label={t('log.filter')}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Switch
          label={t('log.follow')}
          checked={follow}
          onChange={(event) => setFollow(event.currentTarget.checked)}
        />
        <Button variant="default" onClick={() => copy.mutate(shown)}>
          {t('common.copy')}
        </Button>
      </Group>
      {log.error && <ErrorCard error={log.error} />}
      {log.data?.truncated && <p className="muted">{t('log.truncated', { lines: MOST_LINES })}</p>}
      <pre ref={box} className="text-box" style={{ height: 420 }} tabIndex={0} aria-label={t('files.log')}>
        {log.data ? shown || t('log.empty') : t('common.loading')}
      </pre>
    </>
  );
}
