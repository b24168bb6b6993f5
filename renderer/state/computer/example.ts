import type { RunSummary } from '../../../electron/contract/index.ts';
import type { ShellInfo } from '../settings.ts';

/** The engine keeps the example in a folder of its own among the program's data, so that every window knows it. */
export function isExample(run: Pick<RunSummary, 'folder'>, info: Pick<ShellInfo, 'dataDir'> | null): boolean {
  if (!info || !run.folder.startsWith(info.dataDir)) return false;
  return /^[\\/]example[^\\/]*$/.test(run.folder.slice(info.dataDir.length));
}
