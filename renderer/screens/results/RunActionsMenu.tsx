import { ActionIcon, Menu } from '@mantine/core';
import { useState } from 'react';
import { IconDatabaseSearch, IconDots, IconTablePlus } from '@tabler/icons-react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { actionsOf, runActions } from '../../components/runActions.tsx';
import { useTexts } from '../../i18n/index.ts';
import { chooseAndAddTables } from '../../state/results/otherTables.ts';
import { QueryDialog } from './QueryDialog.tsx';

export function RunActionsMenu({ run }: { run: RunSummary }) {
  const texts = useTexts();
  const { t } = texts;
  const [isAsking, setAsking] = useState(false);
  const items = (ids: readonly string[]) =>
    actionsOf(runActions(run, texts), ids).map(({ id, label, icon: Icon, run: act }) => (
      <Menu.Item key={id} leftSection={<Icon size={16} aria-hidden />} onClick={act}>
        {label}
      </Menu.Item>
    ));
  return (
    <>
      <Menu position="bottom-end" withArrow shadow="md">
        <Menu.Target>
          <ActionIcon variant="default" size={28} aria-label={t('results.more')}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {items(['compare'])}
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
          {items(['command'])}
        </Menu.Dropdown>
      </Menu>
      {isAsking && <QueryDialog run={run} onClose={() => setAsking(false)} />}
    </>
  );
}
