import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { appFailure } from '../../../../contract/errors.ts';
import { message } from '../../../../contract/messages.ts';
import type { PrepareDone } from '../../../../contract/protocol/index.ts';
import { openPlain, pathInRun } from '../../../system/runFiles.ts';
import type { Damage } from '../../types.ts';
import { verdictOf } from '../checkDatabase.ts';
import { inLittleMemory } from '../database.ts';
import { isFileError, MOST_BYTES } from '../files/safetensorsFile.ts';
import { readRun } from '../runRows.ts';
import { Digests } from './digests.ts';
import { partPath } from './partRows.ts';

const SETTLED = `state IN ('done', 'failed', 'skipped')`;
const DAMAGED_PLAN = 'The plan stored in run.db, or what it says of the inputs, is damaged.';

/**
 * Compares everything stored with its digests. Every row is read once: about two seconds for a million
 * chunks.
 */
export function findDamage(db: Database.Database): Damage {
  return inLittleMemory(db, () => {
    const digests = new Digests(db);
    const { parts, strayChunks } = damagedParts(db, digests);
    const { prepared, description } = readRun(db);
    // A share has some of the run's parts, and none of its records.
    const isPartial = prepared === null || description.options.share !== undefined;
    const counts = isPartial ? [] : wrongCounts(db, prepared);
    const plan = isPlanDamaged(db, digests);
    const found = [
      plan && DAMAGED_PLAN,
      parts.length > 0 && `Stored scores of ${parts.length} parts are damaged.`,
      areRecordsDamaged(db, digests) && 'Stored names or lengths of sequences are damaged.',
      strayChunks && 'run.db holds scores that belong to no part.',
      verdictOf(db, 'integrity_check(part)') !== null && 'The index of the parts is damaged.',
      counts.length > 0 && `What run.db holds does not add up (${counts.join('; ')}).`,
    ].filter((sentence) => typeof sentence === 'string');
    return { plan, parts: parts.map(({ id }) => id), found };
  });
}

/**
 * The settled parts that differ from what was stored, and whether there are chunks that belong to no settled
 * part.
 */
function damagedParts(
  db: Database.Database,
  digests: Digests,
): { parts: { id: number; key: string }[]; strayChunks: boolean } {
  const settled = db
    .prepare<[], { id: number; key: string; rows_sha256: string | null }>(
      `SELECT id, key, rows_sha256 FROM part NOT INDEXED WHERE ${SETTLED}`,
    )
    .all();
  let chunks = 0;
  const damaged = settled.filter(({ key, rows_sha256 }) => {
    const found = digests.ofPart(key);
    chunks += found.chunks;
    return found.sha256 !== rows_sha256;
  });
  const stored = db.prepare<[], number>('SELECT count(*) FROM chunk').pluck().get();
  return { parts: damaged, strayChunks: stored !== chunks };
}

/** Keys of settled parts whose rows differ from those that were stored. */
export function damagedPartKeys(db: Database.Database): string[] {
  return inLittleMemory(db, () => damagedParts(db, new Digests(db)).parts.map(({ key }) => key));
}

function areRecordsDamaged(db: Database.Database, digests: Digests): boolean {
  const files = db
    .prepare<[], { first_row: number; count: number; rows_sha256: string | null }>(
      'SELECT first_row, count, rows_sha256 FROM records_file ORDER BY first_row',
    )
    .all();
  return files.some(
    ({ first_row, count, rows_sha256 }) => digests.ofRecords(first_row, count) !== rows_sha256,
  );
}

function isPlanDamaged(db: Database.Database, digests: Digests): boolean {
  const sealed = db.prepare<[], string | null>('SELECT plan_sha256 FROM run').pluck().get();
  return sealed !== digests.ofPlan();
}

/**
 * Throws if the plan, or the facts about the inputs, differ from those of the run's creation, which cannot be
 * repaired.
 */
export function refuseDamagedPlan(db: Database.Database): void {
  if (isPlanDamaged(db, new Digests(db))) throw appFailure('run_damaged', DAMAGED_PLAN);
}

/** Throws if the results would not be those of the run. */
export function refuseDamage(db: Database.Database): void {
  const { plan, found } = findDamage(db);
  if (found.length === 0) return;
  const nextStep = message('run.damaged.next');
  throw appFailure('run_damaged', found.join(' '), plan ? {} : { nextStep });
}

/**
 * Deletes damaged data, so that the inputs are read again and the missing parts are recomputed; sound parts
 * stay.
 * Returns what was found. Throws, and changes nothing, if the plan is damaged.
 */
export function repairDamage(db: Database.Database): string[] {
  refuseDamagedPlan(db);
  const { parts, found } = findDamage(db);
  if (found.length === 0) return found;
  db.exec('REINDEX part');
  // Includes everything cut from the same part. Its number or its key may itself be damaged, so both are
  // used.
  const forget = db.prepare(
    `DELETE FROM part WHERE id IN (SELECT other.id FROM part AS own JOIN part AS other
       ON other.number IN (own.number, CAST(own.key AS INTEGER)) WHERE own.id = ?)`,
  );
  for (const id of parts) forget.run(id);
  db.exec(
    `DELETE FROM chunk WHERE NOT EXISTS (SELECT 1 FROM part WHERE part.id = chunk.part AND ${SETTLED}
       AND chunk.row BETWEEN part.first_row AND part.last_row)`,
  );
  db.exec('DELETE FROM records_file');
  db.exec('UPDATE run SET prepared = NULL');
  return found;
}

/** Compares the database with prepare's reported counts; returns the differences. */
export function wrongCounts(db: Database.Database, done: PrepareDone): string[] {
  const expected: Record<string, number> = {
    records: done.records,
    chunks: done.chunks,
    'scorable records': done.scorable_records,
    'frames of records': done.frames,
    parts: done.parts,
    'frames of parts': done.frames,
    residues: done.residues,
    ...done.not_scored,
  };
  const found = { ...foundCounts(db), ...foundReasons(db) };
  const names = new Set([...Object.keys(expected), ...Object.keys(found)]);
  return [...names]
    .filter((name) => (found[name] ?? 0) !== (expected[name] ?? 0))
    .map((name) => `${name}: ${found[name] ?? 0}, reported ${expected[name] ?? 0}`);
}

function foundCounts(db: Database.Database): Record<string, number> {
  const records = db.prepare<[], Record<string, number>>(
    `SELECT count(*) AS records, coalesce(sum(n_chunks), 0) AS chunks, coalesce(sum(reason IS NULL), 0) AS "scorable records",
       coalesce(sum(n_frames), 0) AS "frames of records" FROM record`,
  );
  const parts = db.prepare<[], Record<string, number>>(
    `SELECT count(*) AS parts, coalesce(sum(frames), 0) AS "frames of parts", coalesce(sum(residues), 0) AS residues
     FROM part WHERE parent IS NULL`,
  );
  return { ...records.get(), ...parts.get() };
}

function foundReasons(db: Database.Database): Record<string, number> {
  const rows = db
    .prepare<[], [string, number]>(
      'SELECT reason, count(*) FROM record WHERE reason IS NOT NULL GROUP BY reason',
    )
    .raw()
    .all();
  return Object.fromEntries(rows);
}

/**
 * Keys of pending parts whose file is missing or has another hash. Files shared by bisected parts are read
 * once.
 */
export function verifyPendingParts(db: Database.Database, folder: string): string[] {
  const pending = db
    .prepare<[], { key: string; sha256: string }>(
      `SELECT key, sha256 FROM part WHERE state = 'pending' ORDER BY number, key`,
    )
    .all();
  const hashes = new Map<string, string | null>();
  return pending
    .filter(({ key, sha256 }) => {
      const path = partPath(key);
      if (!hashes.has(path)) hashes.set(path, hashOf(folder, path));
      return hashes.get(path) !== sha256;
    })
    .map(({ key }) => key);
}

function hashOf(folder: string, name: string): string | null {
  const hash = createHash('sha256');
  const block = Buffer.alloc(1 << 20);
  let descriptor: number | null = null;
  try {
    descriptor = openPlain(pathInRun(folder, name), 'read');
    if (fstatSync(descriptor).size > MOST_BYTES) return null;
    for (let n = readSync(descriptor, block); n > 0; n = readSync(descriptor, block))
      hash.update(block.subarray(0, n));
    return hash.digest('hex');
  } catch (error) {
    if (isFileError(error)) return null;
    throw error;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
