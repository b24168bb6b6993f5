import { useMutation } from '@tanstack/react-query';
import { Button, TextInput } from '@mantine/core';
import { IconFolderOpen, IconHistory, IconPlus, IconSearch } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { isAtWork } from '../../../electron/contract/runState.ts';
import { Card } from '../../components/Card.tsx';
import { Empty } from '../../components/feedback/Empty.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { go, goToRun } from '../../state/navigation.ts';
import { chooseFolder } from '../../state/pathChooser.ts';
import { openDiskDialog } from '../../state/runs/runDialog.ts';
import { queuedRuns, useRuns } from '../../state/runs/runs.ts';
import { QueueCard } from './QueueCard.tsx';
import { RunsTable } from './RunsTable.tsx';
import { runsMatching } from './runsShown.ts';

/** Runs at work and waiting, and all that were. */
export function HistoryScreen() {
  const { t } = useTexts();
  const runs = useRuns((state) => state.runs);
  const error = useRuns((state) => state.error);
  const [search, setSearch] = useState('');
  const open = useMutation({
    mutationFn: async () => {
      const folder = await chooseFolder('run');
      if (folder === null) return;
      const { runId } = await engine.runs.open({ folder });
      goToRun(runId);
    },
  });
  const shown = useMemo(() => runsMatching(runs ?? [], search), [runs, search]);
  const busy = runs ? runs.filter(isAtWork) : [];
  const waiting = runs ? queuedRuns(runs) : [];
  return (
    <Page
      title={t('history.title')}
      lead={t('history.lead')}
      actions={
        <>
          {runs && runs.length > 0 && (
            <Button variant="default" onClick={openDiskDialog}>
              {t('disk.title')}
            </Button>
          )}
          <Button
            variant="default"
            loading={open.isPending}
            leftSection={<IconFolderOpen size={16} aria-hidden />}
            onClick={() => open.mutate()}
          >
            {t('history.open')}
          </Button>
          {runs?.length !== 0 && (
            <Button
              leftSection={<IconPlus size={16} aria-hidden />}
              onClick={() => go({ screen: 'new-run' })}
            >
              {t('newRun.title')}
            </Button>
          )}
        </>
      }
    >
      {error && <ErrorCard error={error} />}
      {!runs && !error && (
        <Card title={t('history.all')}>
          <Waiting like="table" rows={5} />
        </Card>
      )}
      {runs?.length === 0 && (
        <Empty
          icon={<IconHistory size={28} aria-hidden />}
          title={t('history.emptyTitle')}
          actions={<Button onClick={() => go({ screen: 'new-run' })}>{t('newRun.title')}</Button>}
        >
          {t('history.emptyText')}
        </Empty>
      )}
      {busy.length + waiting.length > 0 && <QueueCard busy={busy} waiting={waiting} />}
      {runs && runs.length > 0 && (
        <Card
          title={t('history.all')}
          aside={
            <TextInput
              w={240}
              size="xs"
              leftSection={<IconSearch size={14} aria-hidden />}
              placeholder={t('history.search')}
              aria-label={t('history.search')}
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
            />
          }
        >
          <RunsTable runs={shown} />
        </Card>
      )}
    </Page>
  );
}
