import { useMutation } from '@tanstack/react-query';
import { ActionIcon, Button, TextInput, Tooltip } from '@mantine/core';
import { IconArrowsDiff, IconFolderOpen, IconHistory, IconPlus, IconSearch } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { Empty } from '../../components/feedback/Empty.tsx';
import { ErrorCard } from '../../components/feedback/ErrorCard.tsx';
import { Waiting } from '../../components/feedback/Waiting.tsx';
import { Page } from '../../components/Page.tsx';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { go, goToRun } from '../../state/navigation.ts';
import { chooseFolder } from '../../state/pathChooser.ts';
import { useRuns } from '../../state/runs/runs.ts';
import { RunsTable } from './RunsTable.tsx';
import { runsMatching } from './runsShown.ts';

/** One list of the runs that are at work or waiting, those that can be resumed, and those that are finished. */
export function HistoryScreen({ table: Table = RunsTable }: { table?: typeof RunsTable }) {
  const { t } = useTexts();
  const runs = useRuns((state) => state.runs);
  const error = useRuns((state) => state.error);
  const [search, setSearch] = useState('');
  /** Run ids, in the order in which they were ticked. */
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const shown = useMemo(() => runsMatching(runs ?? [], search), [runs, search]);
  // A run that was deleted since then is left out of the comparison.
  const [first, second] = ticked.filter((runId) => runs?.some((run) => run.runId === runId));
  return (
    <Page
      fill
      title={t('nav.runs')}
      actions={
        <>
          {runs && runs.length > 0 && (
            <TextInput
              w={{ base: 130, sm: 220 }}
              leftSection={<IconSearch size={14} aria-hidden />}
              placeholder={t('history.search')}
              aria-label={t('history.search')}
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
            />
          )}
          {first !== undefined && (
            <Button
              variant="default"
              leftSection={<IconArrowsDiff size={16} aria-hidden />}
              onClick={() => go({ screen: 'compare', runId: first, otherRunId: second ?? null })}
            >
              {t(second === undefined ? 'compare.open' : 'compare.both')}
            </Button>
          )}
          {runs?.length !== 0 && (
            <Button
              leftSection={<IconPlus size={16} aria-hidden />}
              onClick={() => go({ screen: 'new-run' })}
            >
              {t('nav.new-run')}
            </Button>
          )}
          <OpenRun />
        </>
      }
    >
      {error && <ErrorCard error={error} />}
      {!runs && !error && <Waiting rows={5} />}
      {runs?.length === 0 && (
        <Empty
          icon={<IconHistory size={28} aria-hidden />}
          title={t('history.emptyTitle')}
          actions={<Button onClick={() => go({ screen: 'new-run' })}>{t('nav.new-run')}</Button>}
        >
          {t('history.emptyText')}
        </Empty>
      )}
      {runs && runs.length > 0 && (
        <Table
          runs={shown}
          ticked={ticked}
          // Two runs can be compared: ticking a third one replaces the first.
          onTick={(runId) =>
            setTicked((before) =>
              before.includes(runId) ? before.filter((one) => one !== runId) : [...before, runId].slice(-2),
            )
          }
        />
      )}
    </Page>
  );
}

function OpenRun() {
  const { t } = useTexts();
  const open = useMutation({
    mutationFn: async () => {
      const folder = await chooseFolder('run');
      if (folder === null) return;
      const { runId } = await engine.runs.open({ folder });
      goToRun(runId);
    },
  });
  return (
    <Tooltip label={t('history.open')}>
      <ActionIcon
        variant="default"
        size={36}
        aria-label={t('history.open')}
        loading={open.isPending}
        onClick={() => open.mutate()}
      >
        <IconFolderOpen size={18} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
