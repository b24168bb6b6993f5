import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';

/** Entry of the store's threads, which is bundled as `storeHost.mjs`. */
export const STORE_HOST = join(import.meta.dirname, '..', 'electron', 'engine', 'store', 'hostEntry.ts');

/** CommonJS packages in the bundle expect a `require`, which an ES module doesn't have by default. */
const REQUIRE_IN_A_MODULE =
  "import { createRequire as nodeCreateRequire } from 'node:module';\nconst require = nodeCreateRequire(import.meta.url);";

const root = join(import.meta.dirname, '..');

/**
 * The folders in which npm puts the DuckDB binaries of this kind of computer, or build/pack/fetchDuckDb.ts
 * those of another kind.
 */
export function duckDbFolders(target: string): { installed: string; fetched: string } {
  return {
    installed: join(root, 'node_modules', '@duckdb', `node-bindings-${target}`),
    fetched: join(root, 'dist', 'duckdb', target),
  };
}

const DUCKDB_LIBRARIES = ['libduckdb.so', 'libduckdb.dylib', 'duckdb.dll'];

/**
 * Copies DuckDB's two binaries beside the bundles: the Node addon, and the library that it loads from its own
 * folder. A bundle that stays in the checkout loads them from where npm has put them, as they are large.
 */
function duckDb(target: string, stays: boolean): Plugin {
  return {
    name: 'duckdb',
    setup: (build) => {
      let isUsed = false;
      build.onResolve({ filter: /^@duckdb\/node-bindings$/ }, () => {
        if (stays) return { path: join(duckDbFolders(target).installed, 'duckdb.node'), external: true };
        isUsed = true;
        return { path: './duckdb.node', external: true };
      });
      build.onEnd(() => {
        const { outdir, write } = build.initialOptions;
        if (!isUsed || outdir === undefined || write === false) return;
        const { installed, fetched } = duckDbFolders(target);
        const folder = existsSync(installed) ? installed : fetched;
        if (!existsSync(folder))
          throw new Error(
            `DuckDB for ${target} is not there: npm run node -- build/pack/fetchDuckDb.ts ${target}`,
          );
        mkdirSync(outdir, { recursive: true });
        for (const name of [
          'duckdb.node',
          ...DUCKDB_LIBRARIES.filter((file) => existsSync(join(folder, file))),
        ])
          copyFileSync(join(folder, name), join(outdir, name));
      });
    },
  };
}

/**
 * Bundles for Node 24 or Electron into single modules, with the SQLite and DuckDB binaries of a target
 * (`linux-x64`) beside them.
 */
export function nodeBundle(target: string, stays = false): BuildOptions {
  return {
    // The extension declares the module type, since no package.json above the file may do so.
    outExtension: { '.js': '.mjs' },
    assetNames: 'better_sqlite3',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // better-sqlite3 has an entry for each platform that names its binary, which esbuild then copies and
    // references.
    alias: { 'better-sqlite3': `better-sqlite3/${target}` },
    loader: { '.node': 'copy' },
    plugins: [duckDb(target, stays)],
    banner: { js: REQUIRE_IN_A_MODULE },
    logLevel: 'warning',
  };
}
