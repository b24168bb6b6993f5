import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { RUN_DATABASE } from '../../runFolder.ts';
import type { InputProblem } from '../../../../contract/protocol/index.ts';
import { copyTelemetry } from './shares.ts';
import { sealMethods } from './digests.ts';

/** What of a merged run came before the run that is adopted: its own numbers go on from these. */
export interface AdoptedBefore {
  readonly inputs: number;
  readonly records: number;
  readonly parts: number;
}

/** As prepare writes keys, with what bisecting put behind the number. */
const renumbered = (key: string): string =>
  `printf('%06d', CAST(${key} AS INTEGER) + $parts) || substr(${key}, instr(${key} || '.', '.'))`;

const PART_AS_IT_IS = [
  ...['sha256', 'frame_begin', 'frame_end', 'frames', 'residues', 'chunks', 'round', 'state', 'attempts'],
  ...['device', 'seconds', 'scores_sha256', 'recomputed_fp32', 'frames_failed', 'frames_outside_norm_band'],
  ...['esm2_norm_low', 'esm2_norm_high', 'dnabert_s_norm_low', 'dnabert_s_norm_high', 'batch_halvings'],
  ...['bisected', 'repeated_proteins', 'repeated_nucleotides', 'failure_code', 'failure_message'],
].join(', ');

const COPIES = [
  `UPDATE main.input SET (records, bases, first_row, failure) = (SELECT records, bases, first_row + $records, failure
     FROM other.input AS own WHERE own.input + $inputs = main.input.input)
   WHERE input IN (SELECT input + $inputs FROM other.input)`,
  `INSERT INTO main.record (row, input, byte_offset, length, n_chunks, n_frames, reason, name, header)
   SELECT row + $records, input + $inputs, byte_offset, length, n_chunks, n_frames, reason, name, header FROM other.record`,
  `INSERT INTO main.records_file (path, sha256, first_row, count)
   SELECT 'work/' || $inputs || '/' || substr(path, 6), sha256, first_row + $records, count FROM other.records_file`,
  `INSERT INTO main.part (id, key, number, parent, first_row, last_row, ${PART_AS_IT_IS})
   SELECT id + $ids, ${renumbered('key')}, number + $parts, ${renumbered('parent')}, first_row + $records,
     last_row + $records, ${PART_AS_IT_IS} FROM other.part`,
  `INSERT INTO main.chunk (row, chunk, part, frames, unscored, fp32, is_virus, scores, reason)
   SELECT row + $records, chunk, part + $ids, frames, unscored, fp32, is_virus, scores, reason FROM other.chunk`,
];

/**
 * Takes over a finished run, behind those that were adopted before it. Whoever calls this holds its lock, and has compared it with
 * its digests; what it becomes here gets digests of its own. Kept embeddings stay where they are.
 */
export function adoptRun(
  db: Database.Database,
  folder: string,
  before: AdoptedBefore,
  problems: readonly InputProblem[],
): void {
  db.prepare('ATTACH ? AS other').run(join(folder, RUN_DATABASE));
  try {
    db.transaction(() => {
      const ids = db.prepare<[], number>('SELECT coalesce(max(id), 0) FROM main.part').pluck().get() ?? 0;
      for (const copy of COPIES) db.prepare(copy).run(namedIn(copy, { ...before, ids }));
      addProblems(db, before, problems);
      db.exec('INSERT OR REPLACE INTO main.device SELECT * FROM other.device');
      copyTelemetry(db, 'other');
      seal(db, before);
    })();
  } finally {
    db.exec('DETACH other');
  }
}

/** SQLite refuses values that a statement does not name. */
const namedIn = (statement: string, values: Record<string, number>): Record<string, bigint> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      statement.includes(`$${name}`) ? [[name, BigInt(value)]] : [],
    ),
  );

function addProblems(
  db: Database.Database,
  { inputs, records }: AdoptedBefore,
  problems: readonly InputProblem[],
): void {
  const add = db.prepare(
    'INSERT INTO input_problem (input, code, severity, message, count, examples) VALUES (?, ?, ?, ?, ?, ?)',
  );
  for (const { input, code, severity, message, count, examples } of problems) {
    const moved = examples.map(({ row, ...example }) => ({ row: row + records, ...example }));
    add.run(input + inputs, code, severity, message, count, JSON.stringify(moved));
  }
}

function seal(db: Database.Database, { records, parts }: AdoptedBefore): void {
  const { sealPart, sealRecords } = sealMethods(db);
  const keys = db.prepare<[number], string>(
    `SELECT key FROM part WHERE number >= ? AND state IN ('done', 'failed', 'skipped')`,
  );
  for (const key of keys.pluck().all(parts)) sealPart(key);
  const files = db.prepare<[number], { path: string; first_row: number; count: number }>(
    'SELECT path, first_row, count FROM records_file WHERE first_row >= ?',
  );
  for (const { path, first_row, count } of files.all(records)) sealRecords(path, first_row, count);
}
