/**
 * Bundles the command line into dist/cli/virnucpro.mjs, for servers: it needs only Node 24, the entry of the
 * store's threads and the SQLite binary beside it, and the folders python-backend and resources beside or above it.
 *
 *   npm run node -- build/buildCli.ts [linux-arm64]     for this kind of computer, or for the one named
 */
import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { bundleCommandLine } from './bundleCommandLine.ts';

const root = join(import.meta.dirname, '..');
const outFolder = join(root, 'dist', 'cli');

await bundleCommandLine(outFolder, process.argv[2] ?? `${process.platform}-${process.arch}`);
for (const file of ['commandLine.mjs', 'storeHost.mjs', 'better_sqlite3.node', 'duckdb.node']) {
  const path = join(outFolder, file);
  process.stdout.write(`${relative(root, path)}  ${(statSync(path).size / 1024 ** 2).toFixed(1)} MB\n`);
}
