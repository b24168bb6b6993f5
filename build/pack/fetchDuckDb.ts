/**
 * Downloads the DuckDB binaries for another kind of computer to the folder where bundling looks for them; npm
 * installs only those for this kind:
 *
 *   node build/pack/fetchDuckDb.ts linux-arm64
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { duckDbFolders } from '../nodeBundle.ts';

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
  const work = mkdtempSync(join(tmpdir(), 'duckdb-'));
  try {
    const { stdout } = await execa('npm', ['pack', '--json', `${name}@${locked.version}`], { cwd: work });
    const [packed] = JSON.parse(stdout) as { filename: string; integrity: string }[];
    if (packed?.integrity !== locked.integrity)
      throw new Error(`${name} is not the file that package-lock.json names.`);
    await execa('tar', ['-xzf', packed.filename], { cwd: work });
    rmSync(fetched, { recursive: true, force: true });
    mkdirSync(join(fetched, '..'), { recursive: true });
    renameSync(join(work, 'package'), fetched);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (import.meta.main) await fetchDuckDb(process.argv[2] ?? `${process.platform}-${process.arch}`);
