/**
 * Bundles the command line into dist/cli/virnucpro.mjs, for servers: it runs with a bare Node 24, with the SQLite binary beside
 * it and the folders python-backend and resources beside or above it.
 *
 *   npm run build:cli [-- linux-arm64]     for this computer, or for the one named
 */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const outFolder = join(root, 'dist', 'cli');
const target = process.argv[2] ?? `${process.platform}-${process.arch}`;
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

rmSync(outFolder, { recursive: true, force: true });
await build({
  entryPoints: { virnucpro: join(root, 'electron', 'cli', 'main.ts') },
  outdir: outFolder,
  outExtension: { '.js': '.mjs' },
  assetNames: 'better_sqlite3',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // better-sqlite3 has an entry per platform that names its binary, which esbuild then copies and points to.
  alias: { 'better-sqlite3': `better-sqlite3/${target}` },
  loader: { '.node': 'copy' },
  define: { APP_VERSION: JSON.stringify(version) },
  // CommonJS packages in the bundle expect a `require`, which a module doesn't have by itself.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as nodeCreateRequire } from 'node:module';\nconst require = nodeCreateRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
for (const file of ['virnucpro.mjs', 'better_sqlite3.node']) {
  const path = join(outFolder, file);
  process.stdout.write(`${relative(root, path)}  ${(statSync(path).size / 1024 ** 2).toFixed(1)} MB\n`);
}
