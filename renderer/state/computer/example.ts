import type { RunSummary } from '../../../electron/contract/index.ts';
import type { ShellInfo } from '../settings.ts';

/** The engine keeps the example in a folder of its own in the data folder, so every window can recognise it. */
export function isExample(run: Pick<RunSummary, 'folder'>, info: Pick<ShellInfo, 'dataDir'> | null): boolean {
  if (!info || !run.folder.startsWith(info.dataDir)) return false;
  return /^[\\/]example[^\\/]*$/.test(run.folder.slice(info.dataDir.length));
}
