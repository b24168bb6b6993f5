import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { PrepareDone } from '../../../../contract/protocol/index.ts';
import { makeFolderInRun, pathInRun, renameInRun, somethingAt } from '../../../system/runFiles.ts';
import { RUN_DATABASE as RUN_DATABASE_FILE } from '../../../../contract/folderNames.ts';
import type { SharePart } from '../../shares.ts';
import { checkDatabase, checkDatabaseFiles, distrust } from '../checkDatabase.ts';
import { readRun } from '../runRows.ts';
import { RUN_DATABASE } from '../runSchema.ts';
import { damaged } from '../database.ts';
import type { ShareMerged } from '../../types.ts';
import { damagedPartKeys } from './damage.ts';
import { sealMethods } from './digests.ts';
import { findPart, type PartRow } from './partRows.ts';

/** The columns that computing a part sets; the others come from prepare. */
const OUTCOME = `state, attempts, device, seconds, scores_sha256, embeddings_sha256, recomputed_fp32, frames_failed,
  frames_outside_norm_band, batch_halvings, bisected, failure_code, failure_message, repeated_proteins,
  repeated_nucleotides, esm2_norm_low, esm2_norm_high, dnabert_s_norm_low, dnabert_s_norm_high`;

/** Samples of a share's devices are stored as means over this time: there may be a thousand devices. */
const SAMPLES_EVERY_MS = 60_000;

/** All waiting parts, for the list that shares read. */
export function shareParts(db: Database.Database): SharePart[] {
  return db
    .prepare<[], SharePart>(
      `SELECT part.id, key, sha256, frame_begin AS frameBegin, frame_end AS frameEnd, residues, chunks, first_row AS firstRow,
         last_row AS lastRow, round, round + place AS turn
       FROM part JOIN (SELECT number, row_number() OVER (PARTITION BY round ORDER BY number) - 1 AS place FROM part
         WHERE parent IS NULL) USING (number)
       WHERE state = 'pending' ORDER BY number, key`,
    )
    .all();
}

export function shareMethods(db: Database.Database, folder: string) {
  return {
    adoptParts: db.transaction((parts: readonly SharePart[], prepared: PrepareDone) =>
      adoptParts(db, parts, prepared),
    ),
    mergeShare: (share: string): ShareMerged => mergeShare(db, folder, share),
  };
}

/**
 * Gives a share its parts. False if it already has a different one with the same name, because the run was
 * read again meanwhile.
 */
function adoptParts(db: Database.Database, parts: readonly SharePart[], prepared: PrepareDone): boolean {
  const insert = db.prepare(
    `INSERT INTO part (id, key, number, parent, sha256, frame_begin, frame_end, frames, residues, chunks, first_row,
       last_row, round, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')`,
  );
  for (const part of parts) {
    const { id, key, sha256, frameBegin, frameEnd, residues, chunks, firstRow, lastRow, round } = part;
    const known = findPart(db, key);
    if (known && !isSame(known, part)) return false;
    if (known) continue;
    const parent = key.includes('.') ? key.slice(0, -2) : null;
    const frames = frameEnd - frameBegin;
    insert.run(id, key, Number.parseInt(key, 10), parent, sha256, frameBegin, frameEnd, frames, residues, chunks, firstRow, lastRow, round); // prettier-ignore
  }
  db.prepare('UPDATE run SET prepared = ?').run(JSON.stringify(prepared));
  return true;
}

type Boundaries = Pick<PartRow, 'sha256' | 'frameBegin' | 'frameEnd'>;
const isSame = (known: Boundaries, other: Boundaries): boolean =>
  known.sha256 === other.sha256 && known.frameBegin === other.frameBegin && known.frameEnd === other.frameEnd;

/**
 * Merges what a share has computed of the parts that still wait here. The caller holds the share's lock.
 * Parts that do not match their digests are not merged and keep waiting.
 */
function mergeShare(db: Database.Database, folder: string, share: string): ShareMerged {
  const at = pathInRun(folder, `${share}/x`).slice(0, -2);
  if (!somethingAt(join(at, RUN_DATABASE_FILE))) return { keys: [], finished: false, damaged: 0 };
  const { finished, unsound } = lookInto(at, readRun(db).description.runId);
  db.prepare('ATTACH ? AS share').run(join(at, RUN_DATABASE_FILE));
  try {
    const keys = db.transaction(() => copyParts(db, folder, share, { finished, unsound }))();
    return { keys, finished: finished && unsound.size === 0, damaged: unsound.size };
  } finally {
    db.exec('DETACH share');
  }
}

/** Checks a share's database like that of any run, and leaves it in a single file. */
function lookInto(at: string, runId: string): { finished: boolean; unsound: ReadonlySet<string> } {
  checkDatabaseFiles(at, RUN_DATABASE_FILE);
  const db = new Database(join(at, RUN_DATABASE_FILE), { fileMustExist: true });
  try {
    distrust(db);
    checkDatabase(db, RUN_DATABASE, false);
    db.pragma('journal_mode = DELETE');
    const { description, state } = readRun(db);
    if (description.options.share !== runId) throw damaged(`${at} is not a share of this run.`);
    return { finished: state.phase === 'done', unsound: new Set(damagedPartKeys(db)) };
  } finally {
    db.close();
  }
}

interface Found extends Boundaries {
  id: number;
  key: string;
  parent: string | null;
  state: string;
  rows_sha256: string | null;
  embeddings_sha256: string | null;
}

function copyParts(
  db: Database.Database,
  folder: string,
  share: string,
  { finished, unsound }: { finished: boolean; unsound: ReadonlySet<string> },
): string[] {
  const found = db
    .prepare<[], Found>(
      `SELECT id, key, parent, state, sha256, frame_begin AS frameBegin, frame_end AS frameEnd, rows_sha256, embeddings_sha256
       FROM share.part ORDER BY number, key`,
    )
    .all();
  const adoptChild = db.prepare(
    `INSERT INTO main.part (key, number, parent, sha256, frame_begin, frame_end, frames, residues, chunks, first_row,
       last_row, round, state, bisected)
     SELECT key, number, parent, sha256, frame_begin, frame_end, frames, residues, chunks, first_row, last_row, round, 'pending', 1
     FROM share.part WHERE key = ?`,
  );
  const takeOutcome = db.prepare(
    `UPDATE main.part SET (${OUTCOME}) = (SELECT ${OUTCOME} FROM share.part WHERE key = $key) WHERE key = $key`,
  );
  const takeChunks = db.prepare(
    `INSERT OR REPLACE INTO main.chunk (row, chunk, part, frames, unscored, fp32, is_virus, scores, reason)
     SELECT row, chunk, $id, frames, unscored, fp32, is_virus, scores, reason FROM share.chunk
     WHERE row BETWEEN $first AND $last AND part = $from`,
  );
  const keepSeal = db.prepare('UPDATE main.part SET rows_sha256 = ? WHERE key = ?');
  const { sealPart } = sealMethods(db);
  const taken: string[] = [];
  for (const theirs of found) {
    const { id, key, parent, state, rows_sha256, embeddings_sha256 } = theirs;
    if (unsound.has(key)) continue;
    if (parent !== null && !findPart(db, key) && findPart(db, parent)?.state === 'split') adoptChild.run(key);
    const mine = findPart(db, key);
    if (mine?.state !== 'pending' || !isSame(mine, theirs)) continue;
    if (!['done', 'failed', 'skipped', 'split'].includes(state)) continue;
    // Parts that failed in a share that continues may be retried there.
    if (state === 'failed' && !finished) continue;
    takeOutcome.run({ key });
    if (state !== 'split') {
      takeChunks.run({ id: mine.id, from: id, first: mine.firstRow, last: mine.lastRow });
      // The digest covers the part's id.
      if (mine.id === id) keepSeal.run(rows_sha256, key);
      else sealPart(key);
    }
    if (embeddings_sha256 !== null) moveEmbeddings(folder, share, key);
    taken.push(key);
  }
  db.exec('INSERT OR REPLACE INTO main.device SELECT * FROM share.device');
  if (finished) copyTelemetry(db, 'share');
  return taken;
}

function moveEmbeddings(folder: string, share: string, key: string): void {
  const name = `work/embeddings/${key}.safetensors`;
  makeFolderInRun(folder, 'work/embeddings');
  if (somethingAt(pathInRun(folder, `${share}/${name}`))) renameInRun(folder, `${share}/${name}`, name);
}

/**
 * Copies the measurements and warnings of a run whose database is attached under this name. `device`: what
 * its devices are called here.
 */
export function copyTelemetry(db: Database.Database, from: 'share' | 'other', device = 'device'): void {
  db.exec(`
    INSERT OR IGNORE INTO main.device_sample (device, time, utilization, memory, power, temperature, residues_per_s, frames_per_s)
    SELECT ${device}, max(time), avg(utilization), CAST(avg(memory) AS INTEGER), avg(power), avg(temperature), avg(residues_per_s),
      avg(frames_per_s) FROM ${from}.device_sample GROUP BY device, time / ${SAMPLES_EVERY_MS};
    INSERT INTO main.event (time, level, code, message, detail, wording)
    SELECT time, level, code, message, detail, wording FROM ${from}.event WHERE level IN ('warning', 'error');`);
}
