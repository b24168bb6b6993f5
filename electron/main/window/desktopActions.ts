import { BrowserWindow, clipboard, dialog, shell, type OpenDialogOptions } from 'electron';
import { basename, dirname, join } from 'node:path';
import { blastAddress } from '../../contract/exports.ts';
import { COMPRESSION_ENDINGS, SEQUENCE_ENDINGS } from '../../contract/folderNames.ts';
import { ok, failWith } from '../../contract/errors.ts';
import type { FilePurpose, FolderPurpose } from '../../contract/index.ts';
import type { DesktopActions } from '../../engine/index.ts';
import type { GrantedPaths } from './grantedPaths.ts';

const SEQUENCE_FILES = {
  name: 'Sequences',
  extensions: [...SEQUENCE_ENDINGS, ...COMPRESSION_ENDINGS],
};

const ALL_FILES = { name: 'All files', extensions: ['*'] };

const FILES: Record<FilePurpose, Pick<OpenDialogOptions, 'title' | 'filters' | 'properties'>> = {
  sequences: {
    title: 'Choose sequence files',
    properties: ['openFile', 'multiSelections'],
    filters: [SEQUENCE_FILES, ALL_FILES],
  },
  // Weights are recognised by content, so any file name is allowed.
  weights: { title: 'Choose files of model weights', properties: ['openFile', 'multiSelections'] },
  tables: {
    title: 'Choose tables of other tools',
    properties: ['openFile', 'multiSelections'],
    filters: [{ name: 'Tables', extensions: ['tsv', 'csv', 'tab', 'txt', 'gz'] }, ALL_FILES],
  },
  certificate: {
    title: 'Choose the certificate file of your network',
    properties: ['openFile'],
    filters: [{ name: 'Certificates', extensions: ['pem', 'crt', 'cer'] }, ALL_FILES],
  },
  interpreter: { title: 'Choose a Python interpreter', properties: ['openFile'] },
};

const FOLDER_TITLES: Record<FolderPurpose, string> = {
  inputs: 'Choose a folder with sequence files',
  output: 'Choose a folder for the results',
  run: 'Choose the folder of a run',
  weights: 'Choose a folder with model weights',
  offline: 'Choose a folder that was packed for a computer without a network',
  pack: 'Choose an empty folder to pack into',
  data: 'Choose a folder for the data of this program',
};

/** Prints in an invisible window, which runs no script and stores nothing. */
async function pdfOf(pagePath: string): Promise<Buffer> {
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
export function desktopActions(
  window: BrowserWindow,
  granted: GrantedPaths,
  startFolder: string,
  restart: () => void,
): DesktopActions {
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
    chooseFiles: (purpose) => choose(purpose, FILES[purpose]),
    chooseFolder: async (purpose) => {
      const [folder] = await choose(purpose, {
        title: FOLDER_TITLES[purpose],
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
