import { ActionIcon, Menu } from '@mantine/core';
import {
  IconDotsVertical,
  IconFolderOpen,
  IconPencil,
  IconPlayerPlay,
  IconRepeat,
  IconTrash,
} from '@tabler/icons-react';
import { useCallback, useState } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { copyText } from '../../api/clipboard.ts';
import { useTexts } from '../../i18n/index.ts';
import { engine } from '../../state/connection.ts';
import { isInWork } from '../../state/runs.ts';
import { runStatus } from '../../state/runStatus.ts';
import { useSettings } from '../../state/settings.ts';
import { say } from '../../state/toasts.ts';
import { useAction } from '../../state/useAction.ts';
import { prepareAgain } from '../run/RunActions.tsx';
import { DeleteDialog } from './DeleteDialog.tsx';
import { RenameDialog } from './RenameDialog.tsx';

const RESUMABLE = ['paused', 'halted', 'interrupted', 'failed', 'cancelled'];

/** What can be done with a run in the list. */
export function RunMenu({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const [dialog, setDialog] = useState<'rename' | 'delete' | null>(null);
  const electron = useSettings((state) => state.info?.shell === 'electron');
  const again = useAction(prepareAgain);
  const resume = useAction(useCallback((runId: string) => engine().runs.resume({ runId }), []));
  const reveal = useAction(async (path: string) => {
    if (electron) {
      await engine().shell.revealInFolder({ path });
    } else {
      await copyText(path);
      say(t('common.copied'));
    }
  });
  return (
    // Clicks within the menu must not open the run that its row stands for.
    <div onClick={(event) => event.stopPropagation()}>
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="slate" aria-label={t('history.menu', { name: run.name })}>
            <IconDotsVertical size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {RESUMABLE.includes(runStatus(run)) && (
            <Menu.Item
              leftSection={<IconPlayerPlay size={16} aria-hidden />}
              onClick={() => void resume.run(run.runId)}
            >
              {t('run.resume')}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconRepeat size={16} aria-hidden />} onClick={() => void again.run(run)}>
            {t('run.again')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconFolderOpen size={16} aria-hidden />}
            onClick={() => void reveal.run(run.folder)}
          >
            {electron ? t('path.reveal') : t('path.copy')}
          </Menu.Item>
          <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setDialog('rename')}>
            {t('history.rename')}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            leftSection={<IconTrash size={16} aria-hidden />}
            disabled={isInWork(run)}
            onClick={() => setDialog('delete')}
          >
            {t('history.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'rename' && <RenameDialog run={run} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && <DeleteDialog run={run} onClose={() => setDialog(null)} />}
    </div>
  );
}
