import { BrowserWindow, clipboard, dialog, shell, type OpenDialogOptions } from 'electron';
import { basename, dirname, join } from 'node:path';
import { blastAddress } from '../../contract/exports.ts';
import { COMPRESSION_ENDINGS, SEQUENCE_ENDINGS } from '../../contract/folderNames.ts';
import { ok, failWith } from '../../contract/errors.ts';
import type { FilePurpose, FolderPurpose } from '../../contract/index.ts';
import type { DesktopActions } from '../../engine/index.ts';
import type { ShellTexts } from '../shellTexts.ts';
import type { GrantedPaths } from './grantedPaths.ts';

const SEQUENCE_FILES = [...SEQUENCE_ENDINGS, ...COMPRESSION_ENDINGS];

/** How files of a kind are chosen; a kind without extensions may have any name. */
const FILES: Record<
  FilePurpose,
  { several?: true; name?: 'sequences' | 'tables' | 'certificates'; extensions?: string[] }
> = {
  sequences: { several: true, name: 'sequences', extensions: SEQUENCE_FILES },
  // Weights are recognised by content.
  weights: { several: true },
  tables: { several: true, name: 'tables', extensions: ['tsv', 'csv', 'tab', 'txt', 'gz'] },
  certificate: { name: 'certificates', extensions: ['pem', 'crt', 'cer'] },
  interpreter: {},
};

/** Prints in an invisible window, which runs no script and stores nothing. */
export async function pdfOf(pagePath: string): Promise<Buffer> {
  const page = new BrowserWindow({
    show: false,
    webPreferences: { sandbox: true, javascript: false, partition: 'report' },
  });
  try {
    await page.loadFile(pagePath);
    return await page.webContents.printToPDF({ preferCSSPageSize: true, printBackground: true });
  } finally {
    page.destroy();
  }
}

/**
 * The dialogs and desktop functions for one window. What the user chooses in a dialog is granted to the page.
 */
export function desktopActions({
  window,
  granted,
  startFolder,
  texts,
  restart,
}: {
  window: BrowserWindow;
  granted: GrantedPaths;
  startFolder: string;
  texts: () => ShellTexts;
  restart: () => void;
}): DesktopActions {
  // Electron's dialogs would otherwise start in Downloads each time.
  const lastFolders = new Map<FilePurpose | FolderPurpose | 'save', string>();

  const choose = async (
    purpose: FilePurpose | FolderPurpose,
    options: OpenDialogOptions,
  ): Promise<string[]> => {
    // Files and folders of sequences are in the same places.
    const place = purpose === 'sequences' ? 'inputs' : purpose;
    const { canceled, filePaths } = await dialog.showOpenDialog(window, {
      ...options,
      defaultPath: lastFolders.get(place) ?? startFolder,
    });
    const [first] = filePaths;
    if (canceled || first === undefined) return [];
    lastFolders.set(place, options.properties?.includes('openFile') ? dirname(first) : first);
    granted.add(filePaths);
    return filePaths;
  };

  return {
    chooseFiles: (purpose) => {
      const { several, name, extensions } = FILES[purpose];
      const t = texts();
      return choose(purpose, {
        title: t(`shell.files.${purpose}`),
        properties: ['openFile', ...(several ? ['multiSelections' as const] : [])],
        ...(name === undefined || extensions === undefined
          ? {}
          : {
              filters: [
                { name: t(`shell.filters.${name}`), extensions },
                { name: t('shell.filters.all'), extensions: ['*'] },
              ],
            }),
      });
    },
    chooseFolder: async (purpose) => {
      const [folder] = await choose(purpose, {
        title: texts()(`shell.folders.${purpose}`),
        properties: ['openDirectory', 'createDirectory'],
      });
      return folder ?? null;
    },
    chooseSaveFile: async (suggestedName) => {
      const { canceled, filePath } = await dialog.showSaveDialog(window, {
        defaultPath: join(lastFolders.get('save') ?? startFolder, suggestedName),
      });
      if (canceled || filePath === '') return null;
      lastFolders.set('save', dirname(filePath));
      granted.add([filePath]);
      return filePath;
    },
    grantPaths: (paths) => granted.confirm(paths),
    revealInFolder: (path) => {
      shell.showItemInFolder(path);
    },
    openFile: async (path) => {
      const refusal = await shell.openPath(path);
      if (refusal === '') return ok(undefined);
      const nextStep = 'Show it in its folder, and choose a program there.';
      return failWith('usage', `${basename(path)} cannot be opened: ${refusal}`, { nextStep });
    },
    restart,
    pdfOf,
    copyText: async (text) => {
      await clipboard.writeText(text);
    },
    // Only this function opens BLAST: a page cannot do so through a link of its own.
    searchBlast: (search) => shell.openExternal(blastAddress(search)),
  };
}
