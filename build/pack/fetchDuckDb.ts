/**
 * Downloads the DuckDB binaries for another kind of computer to the folder where bundling looks for them; npm
 * installs only those for this kind:
 *
 *   npm run node -- build/pack/fetchDuckDb.ts linux-arm64
 */
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { duckDbFolders } from '../nodeBundle.ts';
import { withNpmPackage } from './npmPackage.ts';

const root = join(import.meta.dirname, '..', '..');

/**
 * Downloads the version in package-lock.json, whose hash npm verifies. Does nothing if npm has installed it.
 */
export async function fetchDuckDb(target: string): Promise<void> {
  const { installed, fetched } = duckDbFolders(target);
  if (existsSync(installed)) return;
  const name = `@duckdb/node-bindings-${target}`;
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string } | undefined>;
  };
  const locked = lock.packages[`node_modules/${name}`];
  if (!locked) throw new Error(`There is no DuckDB for ${target}.`);
  await withNpmPackage({ name, ...locked }, (folder) => {
    rmSync(fetched, { recursive: true, force: true });
    cpSync(folder, fetched, { recursive: true });
  });
}

if (import.meta.main) await fetchDuckDb(process.argv[2] ?? `${process.platform}-${process.arch}`);
