import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { NOTICE_FILE, RESULT_FILES } from '../../../contract/results.ts';
import type { RunFile } from '../../../contract/rpc/runs.ts';
import { SEQUENCE_NOTES_FILE } from '../../store/runFolder.ts';

/** The result files in a run's folder, and those of `others` that are there. Ordinary files only, no links. */
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
      return info?.isFile() ? [{ name, bytes: info.size }] : [];
    }),
  );
  return files.flat().sort((a, b) => a.name.localeCompare(b.name));
}
