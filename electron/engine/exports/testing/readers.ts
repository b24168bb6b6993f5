import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
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

export type Cell = string | number | boolean | null;
/** What each reader sees in a file. */
interface Seen {
  xlsx: Record<string, Cell[][]>;
  layout: {
    formats: Record<string, string>;
    widths: number[];
    frozen: string;
    filter: string;
    dimension: string;
    bold: boolean[];
    wrapped: boolean[];
  };
  package: { parts: string[]; types: Record<string, string>; targets: string[] };
  parquet: { types: Record<string, string>; rows: Record<string, Cell>[]; metadata: Record<string, string> };
  tsv: Record<string, string>[];
  csv: Record<string, string>[];
  csv_de: Record<string, string>[];
  fasta: [header: string, letters: string][];
  gff3: {
    start: number;
    end: number;
    score: string;
    strand: string;
    attributes: Record<string, string>;
    parents: string[];
  }[];
  bed: string[][];
}

/** The content of each file, as its reader sees it; skips the test where there are no readers. */
export function readBack<const Readers extends (keyof Seen)[]>(
  context: TestContext,
  ...files: { [I in keyof Readers]: readonly [reader: Readers[I], path: string] }
): { [I in keyof Readers]: Seen[Readers[I]] } {
  const missing = makeReaders();
  context.skip(missing !== undefined, missing);
  const output = execFileSync(python, [SCRIPT, ...(files as string[][]).flat()], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return JSON.parse(output) as { [I in keyof Readers]: Seen[Readers[I]] };
}
