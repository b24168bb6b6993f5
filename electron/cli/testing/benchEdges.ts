/**
 * `npm run bench -- finish [READS]`: checks all that a run of made-up reads has stored, and writes its tables, as at the end of a run.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { RUN_DATABASE } from '../../../contract/folderNames.ts';
import { framesIn } from '../../results/sequenceTally.ts';
import { testBundle } from '../../testing/testBundles.ts';
import { openRunStore } from '../runStore.ts';
import { sealMethods } from '../sqlite/parts/digests.ts';
import { DESCRIPTION, syntheticPlan } from './syntheticRun.ts';

const HOST_ENTRY = testBundle('storeHost.mjs', new URL('../hostEntry.ts', import.meta.url));
const READS_OF_PART = 4096;
/** Open frames of reads of 100 bp: a quarter has none. */
const MASKS = [0, 1, 8, 20];
/** Seconds for ten million reads. */
const AIM = 60;

const reads = Number(process.argv[2] ?? 10_000_000);
const folder = mkdtempSync(join(tmpdir(), 'virnucpro-bench-'));

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
      const mask = MASKS[mixed >>> 30]!;
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

try {
  const create = { plan: syntheticPlan(1), description: DESCRIPTION };
  await (await openRunStore(folder, { hostEntry: HOST_ENTRY, create, writesOnly: true })).close();
  const db = new Database(join(folder, RUN_DATABASE));
  db.transaction(fill)(db);
  db.close();
  const store = await openRunStore(folder, { hostEntry: HOST_ENTRY });
  const [begun, before] = [performance.now(), process.cpuUsage()];
  const { files } = await store.writeTables();
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(before);
  await store.close();
  const isMet = seconds <= (AIM * reads) / 1e7;
  const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
  process.stdout.write(
    `${isMet ? 'ok    ' : 'MISSED'} finish of ${reads.toLocaleString('en')} reads: ${seconds.toFixed(1)} s (aim ${AIM} s for ten million), ` +
      `of the processor ${((user + system) / 1e6).toFixed(1)} s, peak ${((process.resourceUsage().maxRSS * 1024) / 1e6).toFixed(0)} MB; ` +
      `run.db ${(statSync(join(folder, RUN_DATABASE)).size / 1e6).toFixed(0)} MB, tables ${(bytes / 1e6).toFixed(0)} MB\n`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
