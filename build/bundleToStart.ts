import { mkdirSync, mkdtempSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bundleCommandLine } from './bundleCommandLine.ts';
import { keepBuild } from './buildToStart.ts';

const root = join(import.meta.dirname, '..');

/**
 * Bundles the command line for this checkout, since the many files of its source take twice the time to start.
 * build/bootstrap.mjs starts it until one of the files that it was made of has changed.
 */
async function bundleToStart(): Promise<void> {
  const builds = join(root, 'dist', 'command-line');
  mkdirSync(builds, { recursive: true });
  const work = mkdtempSync(join(builds, 'making-'));
  const { inputs } = await bundleCommandLine(work, `${process.platform}-${process.arch}`, true);
  const made = ['package.json', 'package-lock.json', ...Object.keys(inputs)].map(
    (name) => [name, statSync(join(root, name)).mtimeMs] as const,
  );
  const list = { build: basename(keepBuild(work, builds)), made };
  const written = `${work}.json`;
  writeFileSync(written, JSON.stringify(list));
  renameSync(written, join(root, 'dist', 'command-line.json'));
}

try {
  await bundleToStart();
} catch (error) {
  // The program of a checkout that this user may not change starts from its source.
  if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
}
