import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REAL_PYTHON } from '../../testing/testContext.ts';

const PACKAGES = ['openpyxl==3.1.5', 'pyarrow>=21', 'gffutils==0.13', 'biopython>=1.85'];
const SCRIPT = join(import.meta.dirname, 'readBack.py');

/** Outside the program's own environment, which never gets these packages; kept between test runs. */
const FOLDER = join(tmpdir(), 'virnucpro-test-readers-1');
const python = join(FOLDER, 'bin', 'python');

/**
 * Creates an environment with independent readers; returns why there is none, such as a missing package
 * index.
 */
export function makeReaders(): string | undefined {
  if (existsSync(python)) return undefined;
  const making = `${FOLDER}.${process.pid}`;
  try {
    mkdirSync(making, { recursive: true });
    execFileSync(REAL_PYTHON, ['-m', 'venv', making], { stdio: 'pipe' });
    execFileSync(join(making, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...PACKAGES], {
      stdio: 'pipe',
      timeout: 240_000,
    });
    renameSync(making, FOLDER);
    return undefined;
  } catch (reason) {
    rmSync(making, { recursive: true, force: true });
    if (existsSync(python)) return undefined;
    return `no openpyxl, pyarrow, gffutils and Biopython: ${String(reason).slice(0, 200)}`;
  }
}

/** The content of each file, as its reader sees it. */
export function readBack(...files: (readonly [reader: string, path: string])[]): unknown[] {
  const output = execFileSync(python, [SCRIPT, ...files.flat()], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  return JSON.parse(output) as unknown[];
}
