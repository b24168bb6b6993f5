import { fileName } from '../i18n/names.ts';
import type { Texts } from '../i18n/index.ts';
import { home } from './connection.ts';
import { say } from './say.ts';
import { isElectron } from './settings.ts';

/** Says under which name an export was saved; in the desktop app with buttons that lead to it. */
export function saySaved(
  { path, bytes }: { path: string; bytes: number },
  { t, format }: Pick<Texts, 't' | 'format'>,
): void {
  const text = t('saved.withSize', { name: fileName(path), size: format.fileSize(bytes) });
  const open = { label: t('resultFiles.open'), run: () => home.shell.openExport({ path }) };
  const reveal = { label: t('path.reveal'), run: () => home.shell.revealInFolder({ path }) };
  say(text, isElectron() ? [open, reveal] : []);
}
