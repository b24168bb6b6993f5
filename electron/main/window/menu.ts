import type { MenuItemConstructorOptions } from 'electron';
import type { ShellTexts } from '../shellTexts.ts';

/**
 * Contains only what the system expects: quitting, editing, zoom, windows, help. The program's own actions
 * are in its window.
 */
export function menuItems(t: ShellTexts, isMac: boolean, showLog: () => void): MenuItemConstructorOptions[] {
  const separator = { type: 'separator' } as const;
  return [
    ...(isMac ? [{ role: 'appMenu' as const }] : []),
    {
      label: t('shell.menu.file'),
      submenu: [
        isMac ? { role: 'close', label: t('shell.menu.close') } : { role: 'quit', label: t('shell.quit') },
      ],
    },
    {
      label: t('shell.menu.edit'),
      submenu: [
        { role: 'undo', label: t('shell.menu.undo') },
        { role: 'redo', label: t('shell.menu.redo') },
        separator,
        { role: 'cut', label: t('shell.menu.cut') },
        { role: 'copy', label: t('shell.menu.copy') },
        { role: 'paste', label: t('shell.menu.paste') },
        { role: 'selectAll', label: t('shell.menu.selectAll') },
      ],
    },
    {
      label: t('shell.menu.view'),
      submenu: [
        { role: 'reload', label: t('shell.menu.reload') },
        separator,
        { role: 'resetZoom', label: t('shell.menu.resetZoom') },
        { role: 'zoomIn', label: t('shell.menu.zoomIn') },
        { role: 'zoomOut', label: t('shell.menu.zoomOut') },
        { role: 'togglefullscreen', label: t('shell.menu.fullScreen') },
      ],
    },
    {
      role: 'window',
      label: t('shell.menu.window'),
      submenu: [
        { role: 'minimize', label: t('shell.menu.minimize') },
        { role: 'close', label: t('shell.menu.close') },
      ],
    },
    {
      role: 'help',
      label: t('shell.menu.help'),
      submenu: [
        { label: t('shell.menu.log'), click: showLog },
        ...(isMac ? [] : [{ role: 'about' as const, label: t('shell.menu.about') }]),
      ],
    },
  ];
}
