import { Menu } from '@mantine/core';
import { IconDotsVertical, IconFolderOpen } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import type { RunSummary } from '../../../electron/contract/index.ts';
import { actionsOf, runActions } from '../../components/runActions.tsx';
import { useTexts } from '../../i18n/index.ts';
import type { RunDialog } from '../../state/runs/runDialog.ts';
import { useReveal } from '../../state/useReveal.ts';
import classes from './History.module.css';
import { DialogOfRun } from './RunDialogs.tsx';

/**
 * What can be done with a run in the list. Every row has a button, and a menu is slow to render, so each menu is rendered when it
 * is first opened.
 */
export function RunMenu({ run }: { run: RunSummary }) {
  const { t } = useTexts();
  const [isMade, setMade] = useState(false);
  const [dialog, setDialog] = useState<RunDialog | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const focusOpener = () => button.current?.focus();
  const closeDialog = () => {
    setDialog(null);
    focusOpener();
  };
  const opener = (
    <button
      ref={button}
      type="button"
      className={classes.menuButton}
      aria-label={t('history.menu', { name: run.name })}
      aria-haspopup="menu"
      onClick={() => setMade(true)}
    >
      <IconDotsVertical size={18} aria-hidden />
    </button>
  );
  return (
    // Clicks inside the menu must not open the run of its row.
    <div onClick={(event) => event.stopPropagation()}>
      {isMade ? (
        <Menu defaultOpened position="bottom-end" width={260} onClose={focusOpener}>
          <Menu.Target>{opener}</Menu.Target>
          <Menu.Dropdown>
            <Items run={run} onDialog={setDialog} />
          </Menu.Dropdown>
        </Menu>
      ) : (
        opener
      )}
      {dialog !== null && <DialogOfRun run={run} dialog={dialog} onClose={closeDialog} />}
    </div>
  );
}

const BEFORE_FOLDER = ['continue', 'continue-elsewhere', 'again'];
const AFTER_FOLDER = ['compare', 'annotate', 'verify'];

function Items({ run, onDialog }: { run: RunSummary; onDialog: (dialog: RunDialog) => void }) {
  const texts = useTexts();
  const reveal = useReveal();
  const actions = runActions(run, texts, onDialog);
  const items = (ids: readonly string[]) =>
    actionsOf(actions, ids).map(({ id, label, icon: Icon, run: act }) => (
      <Menu.Item key={id} leftSection={<Icon size={16} aria-hidden />} onClick={act}>
        {label}
      </Menu.Item>
    ));
  return (
    <>
      {items(BEFORE_FOLDER)}
      <Menu.Item
        leftSection={<IconFolderOpen size={16} aria-hidden />}
        onClick={() => reveal.run(run.folder)}
      >
        {reveal.label}
      </Menu.Item>
      {items(AFTER_FOLDER)}
      <Menu.Divider />
      {items(['delete'])}
    </>
  );
}
