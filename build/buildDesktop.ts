/**
 * Bundles the desktop app: dist/main (Electron's main process and the entry of the store's threads, with the SQLite
 * binary beside them) and dist/preload (one CommonJS file, as required for a sandboxed preload script).
 *
 *   npm run node -- build/buildDesktop.ts [win32-x64]     for this kind of computer, or for the one named
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { nodeBundle, STORE_HOST } from './nodeBundle.ts';

const root = join(import.meta.dirname, '..');

const PRELOAD_BUNDLE: BuildOptions = {
  entryPoints: { preload: join(root, 'electron', 'preload', 'preload.ts') },
  outExtension: { '.js': '.cjs' },
  bundle: true,
  format: 'cjs',
  platform: 'node',
  // The version of Node in our Electron.
  target: 'node24',
  external: ['electron'],
  logLevel: 'warning',
};

export async function buildDesktop(
  target = `${process.platform}-${process.arch}`,
  outFolder = join(root, 'dist'),
): Promise<void> {
  const main = join(outFolder, 'main');
  rmSync(main, { recursive: true, force: true });
  await build({
    ...nodeBundle(target),
    entryPoints: {
      main: join(root, 'electron', 'main', 'main.ts'),
      storeHost: STORE_HOST,
    },
    outdir: main,
    external: ['electron'],
  });
  await build({ ...PRELOAD_BUNDLE, outdir: join(outFolder, 'preload') });
}

if (import.meta.main) await buildDesktop(process.argv[2]);
