import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';

/** Entry of the store's threads; bundled as `storeHost.mjs`. */
export const STORE_HOST = join(
  import.meta.dirname,
  '..',
  'electron',
  'engine',
  'store',
  'sqlite',
  'hostEntry.ts',
);

/** CommonJS packages in the bundle expect a `require`, which a module doesn't have by itself. */
const REQUIRE_IN_A_MODULE =
  "import { createRequire as nodeCreateRequire } from 'node:module';\nconst require = nodeCreateRequire(import.meta.url);";

/** Bundling for Node 24 or Electron into single modules, with the SQLite binary of a computer (`linux-x64`) beside them. */
export function nodeBundle(target: string): BuildOptions {
  return {
    // Said by the name, since no package.json above it may say that it is a module.
    outExtension: { '.js': '.mjs' },
    assetNames: 'better_sqlite3',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // better-sqlite3 has an entry per platform that names its binary, which esbuild then copies and points to.
    alias: { 'better-sqlite3': `better-sqlite3/${target}` },
    loader: { '.node': 'copy' },
    banner: { js: REQUIRE_IN_A_MODULE },
    logLevel: 'warning',
  };
}
