import { create } from 'zustand';
import { engine } from './connection.ts';
import { isElectron } from './settings.ts';

export type ChoicePurpose = 'files' | 'inputs' | 'output' | 'run';

interface PathChooserState {
  /** A choice being made in browser mode's own dialog. */
  readonly request: { readonly purpose: ChoicePurpose; readonly resolve: (paths: string[]) => void } | null;
}

export const usePathChooser = create<PathChooserState>(() => ({ request: null }));

/** Lets the user pick files or a folder of the engine's computer; empty where they thought better of it. */
export async function choosePaths(purpose: ChoicePurpose): Promise<string[]> {
  if (isElectron()) {
    if (purpose === 'files') return (await engine.shell.chooseFiles()).paths;
    const { path } = await engine.shell.chooseFolder({ purpose });
    return path === null ? [] : [path];
  }
  return new Promise((resolve) => {
    usePathChooser.setState({
      request: {
        purpose,
        resolve(paths) {
          usePathChooser.setState({ request: null });
          resolve(paths);
        },
      },
    });
  });
}
