import { ActionIcon, Checkbox, Menu } from '@mantine/core';
import { useState } from 'react';
import { IconColumns3, IconDatabaseSearch, IconDots, IconTablePlus } from '@tabler/icons-react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { actionsOf, runActions } from '../../components/runActions.tsx';
import { useTexts } from '../../i18n/index.ts';
import { chooseAndAddTables } from '../../state/results/otherTables.ts';
import { changeView, useResultsView } from '../../state/results/resultsView.ts';
import { QueryDialog } from './QueryDialog.tsx';
import { useSequenceColumns } from './table/useSequenceColumns.ts';

export function RunActionsMenu({ run }: { run: RunSummary }) {
  const texts = useTexts();
  const { t } = texts;
  const [open, setOpen] = useState<'columns' | 'query' | null>(null);
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
          <Menu.Item leftSection={<IconColumns3 size={16} aria-hidden />} onClick={() => setOpen('columns')}>
            {t('results.columns')}
          </Menu.Item>
          {items(['compare'])}
          <Menu.Item
            leftSection={<IconTablePlus size={16} aria-hidden />}
            onClick={() => void chooseAndAddTables(run.runId)}
          >
            {t('others.open')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconDatabaseSearch size={16} aria-hidden />}
            onClick={() => setOpen('query')}
          >
            {t('query.open')}
          </Menu.Item>
          {items(['command'])}
        </Menu.Dropdown>
      </Menu>
      {open === 'query' && <QueryDialog run={run} onClose={() => setOpen(null)} />}
      {open === 'columns' && <ColumnsDialog run={run} onClose={() => setOpen(null)} />}
    </>
  );
}

/** Every column that the table of this run can have except the name, which identifies a sequence to people. */
function ColumnsDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const { t } = useTexts();
  const columns = useSequenceColumns(run).filter(({ id }) => id !== 'seqName');
  const hiddenColumns = useResultsView((state) => state.hiddenColumns);
  return (
    <Dialog opened size="sm" title={t('results.columns')} onClose={onClose}>
      {columns.map(({ id, title }) => (
        <Checkbox
          key={id}
          my={6}
          size="xs"
          label={title}
          checked={hiddenColumns[id] !== false}
          onChange={(event) =>
            changeView({ hiddenColumns: { ...hiddenColumns, [id]: event.currentTarget.checked } })
          }
        />
      ))}
    </Dialog>
  );
}
