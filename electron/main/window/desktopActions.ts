import { clipboard, dialog, shell, type BrowserWindow, type OpenDialogOptions } from 'electron';
import { dirname, join } from 'node:path';
import { appError } from '../../contract/errors.ts';
import { err, ok } from '../../contract/result.ts';
import type { DesktopActions } from '../../engine/index.ts';
import type { GrantedPaths } from './grantedPaths.ts';
import { isAllowedExternalLink } from './pagePolicy.ts';

const SEQUENCE_FILES = {
  name: 'Sequences',
  extensions: ['fa', 'fasta', 'fna', 'fas', 'ffn', 'frn', 'fq', 'fastq', 'gz', 'bz2', 'xz', 'zst'],
};

const FOLDER_TITLES = {
  inputs: 'Choose a folder with sequence files',
  output: 'Choose a folder for the results',
  run: 'Choose the folder of a run',
} as const;

/** The dialogs and the desktop, for one window. What the user chooses in a dialog is thereby granted. */
export function desktopActions(
  window: BrowserWindow,
  granted: GrantedPaths,
  startFolder: string,
): DesktopActions {
  // Electron's dialogs would begin in Downloads each time.
  const lastFolder = { inputs: startFolder, output: startFolder, run: startFolder, save: startFolder };

  const choose = async (kind: 'inputs' | 'output' | 'run', options: OpenDialogOptions): Promise<string[]> => {
    const { canceled, filePaths } = await dialog.showOpenDialog(window, {
      ...options,
      defaultPath: lastFolder[kind],
    });
    const [first] = filePaths;
    if (canceled || first === undefined) return [];
    lastFolder[kind] = options.properties?.includes('openFile') ? dirname(first) : first;
    granted.add(filePaths);
    return filePaths;
  };

  return {
    chooseFiles: () =>
      choose('inputs', {
        title: 'Choose sequence files',
        properties: ['openFile', 'multiSelections'],
        filters: [SEQUENCE_FILES, { name: 'All files', extensions: ['*'] }],
      }),
    chooseFolder: async (purpose) => {
      const [folder] = await choose(purpose, {
        title: FOLDER_TITLES[purpose],
        properties: ['openDirectory', 'createDirectory'],
      });
      return folder ?? null;
    },
    chooseSaveFile: async (suggestedName) => {
      const { canceled, filePath } = await dialog.showSaveDialog(window, {
        defaultPath: join(lastFolder.save, suggestedName),
      });
      if (canceled || filePath === '') return null;
      lastFolder.save = dirname(filePath);
      granted.add([filePath]);
      return filePath;
    },
    grantPaths: (paths) => granted.confirm(paths),
    revealInFolder: (path) => {
      shell.showItemInFolder(path);
    },
    copyText: async (text) => {
      await clipboard.writeText(text);
    },
    openExternal: async (url) => {
      if (!isAllowedExternalLink(url)) {
        return err(appError('usage', `${url} is not one of the sites that this program links to.`));
      }
      await shell.openExternal(url);
      return ok(undefined);
    },
  };
}
