import { ActionIcon, Tooltip } from '@mantine/core';
import { IconCopy, IconFolderOpen } from '@tabler/icons-react';
import { copyText } from '../api/clipboard.ts';
import { useTexts } from '../i18n/index.ts';
import { engine } from '../state/connection.ts';
import { useSettings } from '../state/settings.ts';
import { say, sayError } from '../state/toasts.ts';
import classes from './PathText.module.css';

export const fileName = (path: string) => path.split(/[\\/]/).at(-1) ?? path;
export const folderOf = (path: string) => path.slice(0, Math.max(0, path.length - fileName(path).length - 1));

/** A path, with a button that shows it in the file manager, or copies it where there is none. */
export function PathText({ path }: { path: string }) {
  const { t } = useTexts();
  const electron = useSettings((state) => state.info?.shell === 'electron');
  const act = async () => {
    try {
      if (electron) {
        await engine().shell.revealInFolder({ path });
      } else {
        await copyText(path);
        say(t('common.copied'));
      }
    } catch (reason) {
      sayError(reason);
    }
  };
  const label = electron ? t('path.reveal') : t('path.copy');
  return (
    <span className={classes.path}>
      {/* Written from right to left so that the end of a long path, which tells most, stays in sight. */}
      <span dir="rtl" className={classes.text} title={path}>
        <bdi dir="ltr">{path}</bdi>
      </span>
      <Tooltip label={label}>
        <ActionIcon
          variant="subtle"
          color="slate"
          size="sm"
          aria-label={`${label}: ${path}`}
          onClick={() => void act()}
        >
          {electron ? <IconFolderOpen size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
        </ActionIcon>
      </Tooltip>
    </span>
  );
}
