/**
 * `npm run bench -- edges [READS]`: what a user waits for before and after the computing. It checks all that a run of made-up reads
 * has stored and writes its tables, exports them beside DuckDB's own copies, and starts commands.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { DuckDBInstance } from '@duckdb/node-api';
import { RUN_DATABASE } from '../../contract/folderNames.ts';
import { framesIn } from '../../engine/results/sequenceTally.ts';
import { openRunStore } from '../../engine/store/runStore.ts';
import { sealMethods } from '../../engine/store/sqlite/parts/digests.ts';
import { DESCRIPTION, syntheticPlan } from '../../engine/store/testing/syntheticRun.ts';
import { REAL_PYTHON } from '../../engine/testing/realFiles.ts';
import { testBundle } from '../../engine/testing/testBundles.ts';
import { succeeds } from './commandLineProcess.ts';
import { processorSeconds } from './markedProcesses.ts';

const HOST_ENTRY = testBundle('storeHost.mjs', new URL('../../engine/store/hostEntry.ts', import.meta.url));
const SAMPLE = join(import.meta.dirname, '../../../python-backend/tests/data/sample.fa');
/** Letters of the small sample, with its header. */
const SMALL = 520;
const READS_OF_PART = 4096;
/** Open frames of reads of 100 bp: a quarter has none. */
const MASKS = [0, 1, 8, 20];

const reads = Number(process.argv[2] ?? 10_000_000);
const scratch = mkdtempSync(join(tmpdir(), 'virnucpro-bench-'));
const folder = join(scratch, 'run');

/** Fills run.db as prepare and workers do, in less time. */
function fill(db: Database.Database): void {
  const record = db.prepare(
    `INSERT INTO record SELECT value, 0, 140 * value, 100, 1, ?, ?, 0, 0, NULL, NULL, NULL, NULL, 'read_' || value, 'read_' || value || ' length=100'
     FROM (SELECT ? AS value)`,
  );
  const chunk = db.prepare('INSERT INTO chunk VALUES (?, 0, ?, ?, 0, 0, ?, ?, NULL)');
  const part = db.prepare(
    `INSERT INTO part (id, key, number, sha256, frame_begin, frame_end, frames, residues, chunks, first_row, last_row, round, state)
     VALUES (?, ?, ?, '', 0, ?, ?, ?, ?, ?, ?, 0, 'done')`,
  );
  const { sealPart, sealRecords } = sealMethods(db);
  const done = { type: 'done', records: reads, scorable_records: reads, chunks: reads, not_scored: {} };
  let [all, parts] = [0, 0];
  for (let first = 0; first < reads; first += READS_OF_PART, parts++) {
    const end = Math.min(reads, first + READS_OF_PART);
    let [frames, chunks] = [0, 0];
    for (let row = first; row < end; row++) {
      const mixed = Math.imul(row + 1, 2_654_435_761) >>> 0;
      const mask = MASKS[mixed >>> 30] ?? 0;
      const own = framesIn(mask);
      record.run(own.length, mask === 0 ? 1 : 0, row);
      if (mask === 0) continue;
      const score = (mixed & 0xffffff) / 2 ** 24;
      const pairs = Float32Array.from(own.flatMap(() => [1 - score, score]));
      chunk.run(row, parts, mask, score >= 0.5 ? 1 : 0, Buffer.from(pairs.buffer));
      frames += own.length;
      chunks += 1;
    }
    const key = String(parts).padStart(6, '0');
    part.run(parts, key, parts, frames, frames, 33 * frames, chunks, first, end - 1);
    sealPart(key);
    const path = `work/records/${key}.safetensors`;
    db.prepare(`INSERT INTO records_file VALUES (?, '', ?, ?, NULL)`).run(path, first, end - first);
    sealRecords(path, first, end - first);
    all += frames;
  }
  db.prepare('UPDATE run SET prepared = ?').run(
    JSON.stringify({ ...done, frames: all, residues: 33 * all, parts }),
  );
  db.prepare('UPDATE input SET records = ?, bases = ?, first_row = 0').run(reads, 100 * reads);
}

/** Processor time of this process, and of all that it started and that has ended, in seconds. */
function secondsSoFar(): number {
  const { own, ofEnded } = processorSeconds('/proc/self/stat');
  return own + ofEnded;
}

/** Prints what a step takes; `most`: the processor time that it should take at most, in seconds. */
async function row(name: string, most: number, step: () => Promise<unknown>): Promise<void> {
  const [begun, before] = [performance.now(), secondsSoFar()];
  await step();
  const [seconds, processor] = [(performance.now() - begun) / 1000, secondsSoFar() - before];
  const verdict = processor <= most ? 'ok    ' : 'MISSED';
  process.stdout.write(
    `${verdict} ${name.padEnd(34)} ${seconds.toFixed(2)} s, of the processor ${processor.toFixed(2)} s` +
      `${most === Infinity ? '' : ` (limit ${most} s)`}\n`,
  );
}

try {
  const create = { plan: syntheticPlan(1), description: DESCRIPTION };
  await (await openRunStore(folder, { hostEntry: HOST_ENTRY, create, writesOnly: true })).close();
  const db = new Database(join(folder, RUN_DATABASE));
  db.transaction(fill)(db);
  db.close();
  const store = await openRunStore(folder, { hostEntry: HOST_ENTRY });
  let bytes = 0;
  await row(`finish of ${reads.toLocaleString('en')} reads`, Infinity, async () => {
    const { files } = await store.writeTables();
    await store.saveResultFiles(files);
    bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
  });
  process.stdout.write(
    `       peak ${((process.resourceUsage().maxRSS * 1024) / 1e6).toFixed(0)} MB; ` +
      `run.db ${(statSync(join(folder, RUN_DATABASE)).size / 1e6).toFixed(0)} MB, tables ${(bytes / 1e6).toFixed(0)} MB\n`,
  );
  for (const state of [
    { phase: 'running' },
    { phase: 'finishing' },
    { phase: 'done', failedParts: 0, failedRecords: 0 },
  ] as const)
    await store.setState(state);
  await store.close();

  const duckDb = await (await DuckDBInstance.create()).connect();
  const table = `(FROM '${join(folder, 'results.parquet')}')`;
  for (const [format, options] of [
    ['tsv', "FORMAT csv, DELIMITER '\t'"],
    ['csv', 'FORMAT csv'],
    ['parquet', 'FORMAT parquet, COMPRESSION zstd'],
  ] as const) {
    const file = join(scratch, `table.${format}`);
    await row(`export as ${format}`, (8 * reads) / 1e6, () =>
      succeeds(['export', folder, '--format', format, '-o', file, '-q']),
    );
    await row(`  DuckDB alone`, Infinity, () => duckDb.run(`COPY ${table} TO '${file}' (${options})`));
  }
  await row('virnucpro --version', 0.3, () => succeeds(['--version']));
  await row('virnucpro status of a run', 0.8, () => succeeds(['status', folder]));
  const small = join(scratch, 'small.fa');
  writeFileSync(small, `${readFileSync(SAMPLE, 'utf8').slice(0, SMALL)}\n`);
  await row('predict of a small sample', 4, () =>
    succeeds([
      'predict',
      small,
      '--model',
      'teaching',
      '--python',
      REAL_PYTHON,
      '-o',
      join(scratch, 'small'),
    ]),
  );
} finally {
  rmSync(scratch, { recursive: true });
}
