import { fileName } from '../i18n/names.ts';
import type { Texts } from '../i18n/index.ts';
import { home } from './connection.ts';
import { say } from './say.ts';
import { isElectron } from './settings.ts';

interface Saved {
  path: string;
  bytes?: number;
  /** Whether the desktop app may open it: only what the program itself has written in a format of its own. */
  canOpen?: boolean;
}

/** Says under which name a file was saved; in the desktop app with buttons that lead to it. */
export function saySaved(
  { path, bytes, canOpen = false }: Saved,
  { t, format }: Pick<Texts, 't' | 'format'>,
): void {
  const name = fileName(path);
  const text =
    bytes === undefined
      ? t('saved.as', { name })
      : t('saved.withSize', { name, size: format.fileSize(bytes) });
  const open = { label: t('resultFiles.open'), run: () => home.shell.openExport({ path }) };
  const reveal = { label: t('path.reveal'), run: () => home.shell.revealInFolder({ path }) };
  say(text, isElectron() ? [...(canOpen ? [open] : []), reveal] : []);
}
