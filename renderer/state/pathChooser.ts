import { create } from 'zustand';
import type { FilePurpose, FolderPurpose } from '../../electron/contract/index.ts';
import { engine } from './connection.ts';
import { isElectron } from './settings.ts';

export type Choice =
  | { readonly kind: 'files'; readonly purpose: FilePurpose }
  | { readonly kind: 'folder'; readonly purpose: FolderPurpose };

interface PathChooserState {
  /** A choice being made in browser mode's own dialog. */
  readonly request: { readonly choice: Choice; readonly resolve: (paths: string[]) => void } | null;
}

export const usePathChooser = create<PathChooserState>(() => ({ request: null }));

/** Lets the user pick files of the engine's computer; empty if the user cancelled. */
export async function chooseFiles(purpose: FilePurpose): Promise<string[]> {
  if (isElectron()) return (await engine.shell.chooseFiles({ purpose })).paths;
  return browse({ kind: 'files', purpose });
}

/** Null if the user cancelled. */
export async function chooseFolder(purpose: FolderPurpose): Promise<string | null> {
  if (isElectron()) return (await engine.shell.chooseFolder({ purpose })).path;
  const [folder] = await browse({ kind: 'folder', purpose });
  return folder ?? null;
}

/** Returns a list, which is empty if the user cancelled. */
export async function choosePaths({ kind, purpose }: Choice): Promise<string[]> {
  if (kind === 'files') return chooseFiles(purpose);
  const folder = await chooseFolder(purpose);
  return folder === null ? [] : [folder];
}

function browse(choice: Choice): Promise<string[]> {
  return new Promise((resolve) => {
    usePathChooser.setState({
      request: {
        choice,
        resolve(paths) {
          usePathChooser.setState({ request: null });
          resolve(paths);
        },
      },
    });
  });
}
