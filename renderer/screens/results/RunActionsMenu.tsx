import { useMutation } from '@tanstack/react-query';
import { ActionIcon, Menu } from '@mantine/core';
import { useState } from 'react';
import {
  IconArrowsDiff,
  IconDatabaseSearch,
  IconDots,
  IconFileText,
  IconTablePlus,
  IconTerminal2,
} from '@tabler/icons-react';
import { predictCommand, type RunSummary } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { useCopy } from '../../state/clipboard.ts';
import { chooseAndAddTables } from '../../state/results/otherTables.ts';
import { changeView, useResultsView } from '../../state/results/resultsView.ts';
import { writeReport } from '../../state/results/useExport.ts';
import { CompareDialog } from './compare/CompareDialog.tsx';
import { QueryDialog } from './QueryDialog.tsx';

/** What can be done with all results of a run. */
export function RunActionsMenu({ run }: { run: RunSummary }) {
  const texts = useTexts();
  const { t } = texts;
  const report = useMutation({ mutationFn: () => writeReport(run, texts) });
  const copy = useCopy();
  const [isAsking, setAsking] = useState(false);
  const isComparing = useResultsView((state) => state.comparing !== null);
  return (
    <>
      <Menu position="bottom-end" withArrow shadow="md">
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label={t('results.more')} loading={report.isPending}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconFileText size={16} aria-hidden />} onClick={() => report.mutate()}>
            {t('results.report')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconArrowsDiff size={16} aria-hidden />}
            onClick={() => changeView({ comparing: { file: null } })}
          >
            {t('compare.open')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconTablePlus size={16} aria-hidden />}
            onClick={() => void chooseAndAddTables(run.runId)}
          >
            {t('others.open')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconDatabaseSearch size={16} aria-hidden />}
            onClick={() => setAsking(true)}
          >
            {t('query.open')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconTerminal2 size={16} aria-hidden />}
            onClick={() => copy.mutate(predictCommand(run))}
          >
            {t('results.copyCommand')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isAsking && <QueryDialog run={run} onClose={() => setAsking(false)} />}
      {isComparing && <CompareDialog run={run} onClose={() => changeView({ comparing: null })} />}
    </>
  );
}
