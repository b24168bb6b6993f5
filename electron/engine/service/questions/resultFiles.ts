import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MAIN_FILES, NOTICE_FILE, RESULT_FILES } from '../../../contract/results.ts';
import type { RunFile } from '../../../contract/rpc/runs.ts';
import { SEQUENCE_NOTES_FILE } from '../../../contract/folderNames.ts';

/**
 * The result files in a run's folder, and those of `others` that exist, by importance, then by name. Only
 * regular, non-empty files without links.
 */
export async function resultFiles(folder: string, others: readonly string[]): Promise<RunFile[]> {
  const wanted = new Set<string>([
    ...Object.values(RESULT_FILES),
    NOTICE_FILE,
    SEQUENCE_NOTES_FILE,
    ...others,
  ]);
  const names = (await readdir(folder).catch(() => [])).filter((name) => wanted.has(name));
  const files = await Promise.all(
    names.map(async (name) => {
      const info = await lstat(join(folder, name)).catch(() => undefined);
      return info?.isFile() && info.size > 0 ? [{ name, bytes: info.size }] : [];
    }),
  );
  const use = ({ name }: RunFile): number =>
    MAIN_FILES.includes(name) ? MAIN_FILES.indexOf(name) : MAIN_FILES.length;
  return files.flat().sort((a, b) => use(a) - use(b) || a.name.localeCompare(b.name));
}
