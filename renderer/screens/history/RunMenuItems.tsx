import { useMutation } from '@tanstack/react-query';
import { Menu } from '@mantine/core';
import { isAtWork } from '../../../electron/contract/runState.ts';
import {
  IconCpu,
  IconFolderOpen,
  IconPencil,
  IconPlayerPlay,
  IconRepeat,
  IconTag,
  IconShieldCheck,
  IconTrash,
} from '@tabler/icons-react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { useTexts } from '../../i18n/index.ts';
import { prepareAgain } from '../../state/newRun/prepareAgain.ts';
import type { RunDialog } from '../../state/runs/runDialog.ts';
import { resumeRun } from '../../state/runs/runOrders.ts';
import { runStatus } from '../../state/runs/runStatus.ts';
import { useReveal } from '../../state/useReveal.ts';

const RESUMABLE = ['paused', 'halted', 'interrupted', 'failed', 'cancelled'];

interface RunMenuItemsProps {
  run: RunSummary;
  onDialog: (dialog: RunDialog) => void;
}

export function RunMenuItems({ run, onDialog }: RunMenuItemsProps) {
  const { t } = useTexts();
  const again = useMutation({ mutationFn: prepareAgain });
  const resume = useMutation({ mutationFn: resumeRun });
  const reveal = useReveal();
  const isResumable = RESUMABLE.includes(runStatus(run));
  return (
    <>
      {isResumable && (
        <Menu.Item leftSection={<IconPlayerPlay size={16} aria-hidden />} onClick={() => resume.mutate(run)}>
          {t('run.continue')}
        </Menu.Item>
      )}
      {isResumable && (
        <Menu.Item leftSection={<IconCpu size={16} aria-hidden />} onClick={() => onDialog('devices')}>
          {t('run.continueElsewhere')}
        </Menu.Item>
      )}
      <Menu.Item leftSection={<IconRepeat size={16} aria-hidden />} onClick={() => again.mutate(run)}>
        {t('run.again')}
      </Menu.Item>
      <Menu.Item
        leftSection={<IconFolderOpen size={16} aria-hidden />}
        onClick={() => reveal.run(run.folder)}
      >
        {reveal.label}
      </Menu.Item>
      <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => onDialog('rename')}>
        {t('history.rename')}
      </Menu.Item>
      <Menu.Item leftSection={<IconTag size={16} aria-hidden />} onClick={() => onDialog('annotate')}>
        {t('history.annotate')}
      </Menu.Item>
      <Menu.Item
        leftSection={<IconShieldCheck size={16} aria-hidden />}
        disabled={run.missing || isAtWork(run)}
        onClick={() => onDialog('verify')}
      >
        {t('history.verify')}
      </Menu.Item>
      <Menu.Divider />
      <Menu.Item
        leftSection={<IconTrash size={16} aria-hidden />}
        disabled={isAtWork(run)}
        onClick={() => onDialog('delete')}
      >
        {t('history.delete')}
      </Menu.Item>
    </>
  );
}
