/**
 * Bundles the desktop app: dist/main (Electron's main process and the entry of the store's threads, with the SQLite binary
 * beside them) and dist/preload (one CommonJS file, as a sandboxed preload script must be).
 *
 *   npm run build:desktop [-- win32-x64]     for this computer, or for the one named
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';

const root = join(import.meta.dirname, '..');

export const PRELOAD_BUNDLE: BuildOptions = {
  entryPoints: { preload: join(root, 'electron', 'preload', 'preload.ts') },
  outExtension: { '.js': '.cjs' },
  bundle: true,
  format: 'cjs',
  platform: 'node',
  // Of the Electron that runs it.
  target: 'node24',
  external: ['electron'],
  logLevel: 'warning',
};

export async function buildDesktop(target = `${process.platform}-${process.arch}`): Promise<void> {
  const main = join(root, 'dist', 'main');
  rmSync(main, { recursive: true, force: true });
  await build({
    entryPoints: {
      main: join(root, 'electron', 'main', 'main.ts'),
      storeHost: join(root, 'electron', 'engine', 'store', 'hostEntry.ts'),
    },
    outdir: main,
    // Said by the name, since an unpacked file has no package.json above it that would say so.
    outExtension: { '.js': '.mjs' },
    assetNames: 'better_sqlite3',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: ['electron'],
    // better-sqlite3 has an entry per platform that names its binary, which esbuild then copies and points to.
    alias: { 'better-sqlite3': `better-sqlite3/${target}` },
    loader: { '.node': 'copy' },
    // CommonJS packages in the bundle expect a `require`, which a module doesn't have by itself.
    banner: {
      js: "import { createRequire as nodeCreateRequire } from 'node:module';\nconst require = nodeCreateRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  await build({ ...PRELOAD_BUNDLE, outdir: join(root, 'dist', 'preload') });
}

if (import.meta.main) await buildDesktop(process.argv[2]);
