/**
 * Bundles the command line into dist/cli/virnucpro.mjs, for servers: it runs with a bare Node 24, with the SQLite binary beside
 * it and the folders python-backend and resources beside or above it.
 *
 *   npm run build:cli [-- linux-arm64]     for this computer, or for the one named
 */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { nodeBundle, REQUIRE_IN_A_MODULE } from './nodeBundle.ts';

const root = join(import.meta.dirname, '..');

/** For a kind of computer (`linux-x64`) and, where that is older than ours, a version of Node. */
export async function bundleCommandLine(target: string, folder: string, node?: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  rmSync(folder, { recursive: true, force: true });
  await build({
    ...nodeBundle(target),
    ...(node === undefined ? {} : { target: node }),
    absWorkingDir: root,
    entryPoints: { virnucpro: join(root, 'electron', 'cli', 'main.ts') },
    outdir: folder,
    define: { APP_VERSION: JSON.stringify(version) },
    banner: { js: `#!/usr/bin/env node\n${REQUIRE_IN_A_MODULE}` },
  });
}

if (import.meta.main) {
  const folder = join(root, 'dist', 'cli');
  await bundleCommandLine(process.argv[2] ?? `${process.platform}-${process.arch}`, folder);
  for (const file of ['virnucpro.mjs', 'better_sqlite3.node']) {
    const path = join(folder, file);
    process.stdout.write(`${relative(root, path)}  ${(statSync(path).size / 1024 ** 2).toFixed(1)} MB\n`);
  }
}
