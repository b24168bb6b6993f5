import type { DatabaseKind } from './database.ts';

/** Dropped and made again by the pass that fills their table: much faster than keeping them up row by row. */
const SCORE_INDEX = {
  name: 'sequence_by_score',
  create: 'CREATE INDEX main.sequence_by_score ON sequence (virus_score)',
} as const;
const EVIDENCE_INDEX = {
  name: 'sequence_by_evidence',
  create: 'CREATE INDEX main.sequence_by_evidence ON sequence (evidence, virus_score)',
} as const;
export const SEQUENCE_INDEXES = [SCORE_INDEX, EVIDENCE_INDEX] as const;

/** Tables of run.db as they were at first: a part was called a shard, and residues per second tokens. Times are milliseconds since the epoch; `reason` is NULL where it is `ok`. */
const VERSION_1 = `
CREATE TABLE run (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  run_id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  app_version TEXT NOT NULL,
  options TEXT NOT NULL,
  state TEXT NOT NULL,
  prepared TEXT
) STRICT;

CREATE TABLE plan (only INTEGER PRIMARY KEY CHECK (only = 1), plan TEXT NOT NULL) STRICT;
CREATE TRIGGER plan_never_changes BEFORE UPDATE ON plan
BEGIN SELECT RAISE(ABORT, 'the plan of a run never changes'); END;

CREATE TABLE input (
  input INTEGER PRIMARY KEY,
  path TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  records INTEGER,
  bases INTEGER,
  first_row INTEGER
) STRICT;

CREATE TABLE input_problem (
  input INTEGER NOT NULL REFERENCES input (input),
  code TEXT NOT NULL,
  severity TEXT NOT NULL,
  message TEXT NOT NULL,
  count INTEGER NOT NULL,
  examples TEXT NOT NULL,
  PRIMARY KEY (input, code)
) STRICT, WITHOUT ROWID;

CREATE TABLE records_file (
  path TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL,
  first_row INTEGER NOT NULL,
  count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- header is NULL where the whole header line is the name.
CREATE TABLE record (
  row INTEGER PRIMARY KEY,
  input INTEGER NOT NULL,
  byte_offset INTEGER NOT NULL,
  length INTEGER NOT NULL,
  n_chunks INTEGER NOT NULL,
  n_frames INTEGER NOT NULL,
  reason TEXT,
  name TEXT NOT NULL,
  header TEXT
) STRICT;

CREATE TABLE shard (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  number INTEGER NOT NULL,
  parent TEXT,
  path TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  frame_begin INTEGER NOT NULL,
  frame_end INTEGER NOT NULL,
  frames INTEGER NOT NULL,
  residues INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  first_row INTEGER NOT NULL,
  last_row INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'assigned', 'done', 'failed', 'split', 'skipped')),
  attempts INTEGER NOT NULL DEFAULT 0,
  device TEXT,
  seconds REAL,
  scores_sha256 TEXT,
  embeddings_sha256 TEXT,
  recomputed_fp32 INTEGER NOT NULL DEFAULT 0,
  frames_failed INTEGER NOT NULL DEFAULT 0,
  frames_outside_norm_band INTEGER NOT NULL DEFAULT 0,
  batch_halvings INTEGER NOT NULL DEFAULT 0,
  bisected INTEGER NOT NULL DEFAULT 0,
  failure_code TEXT,
  failure_message TEXT
) STRICT;
CREATE INDEX shard_by_state ON shard (state, number, key);
CREATE INDEX shard_by_number ON shard (number, key);

CREATE TABLE attempt (
  attempt INTEGER PRIMARY KEY AUTOINCREMENT,
  shard TEXT NOT NULL REFERENCES shard (key) ON DELETE CASCADE,
  device TEXT NOT NULL,
  worker_pid INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  log TEXT,
  ended_at INTEGER,
  outcome TEXT,
  code TEXT,
  message TEXT
) STRICT;
CREATE INDEX attempt_by_shard ON attempt (shard);
CREATE INDEX attempt_open ON attempt (attempt) WHERE ended_at IS NULL;

-- Chunks with at least one open frame. frames, unscored and fp32 are bit masks, bit 0 = F1 to bit 5 = R3: frames there
-- are, those without a score, those recomputed in FP32. scores holds little-endian float32 pairs (score1, score2) of
-- the scored frames in mask order. is_virus is the chunk call; NULL with a reason where the chunk has none.
CREATE TABLE chunk (
  row INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  shard INTEGER NOT NULL,
  frames INTEGER NOT NULL,
  unscored INTEGER NOT NULL,
  fp32 INTEGER NOT NULL,
  is_virus INTEGER,
  scores BLOB,
  reason TEXT,
  PRIMARY KEY (row, chunk)
) STRICT, WITHOUT ROWID;

-- Derived from record and chunk when a run finishes.
CREATE TABLE sequence (
  row INTEGER PRIMARY KEY,
  prediction TEXT NOT NULL,
  reason TEXT,
  virus_score REAL,
  n_chunks_scored INTEGER NOT NULL,
  n_chunks_viral INTEGER NOT NULL,
  n_frames_scored INTEGER NOT NULL,
  best_chunk INTEGER,
  best_frame INTEGER
) STRICT;
${SCORE_INDEX.create};

CREATE TABLE device (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  facts TEXT NOT NULL,
  switched_off TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE device_sample (
  device TEXT NOT NULL,
  time INTEGER NOT NULL,
  utilization REAL,
  memory INTEGER,
  power REAL,
  temperature REAL,
  tokens_per_s REAL,
  frames_per_s REAL,
  PRIMARY KEY (device, time)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
  event INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  level TEXT NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  detail TEXT
) STRICT;
`;

/** Frames whose protein, or nucleotides, were embedded with an equal frame's. */
const VERSION_2 = `
ALTER TABLE shard ADD COLUMN repeated_proteins INTEGER NOT NULL DEFAULT 0;
ALTER TABLE shard ADD COLUMN repeated_nucleotides INTEGER NOT NULL DEFAULT 0;
`;

/**
 * `shard` becomes `part`, and what was called tokens per second is named for the residues that it counts. The same
 * expressions make an older file that is only looked at read like a current one.
 */
const RENAMED_KEYS = {
  run: {
    state: `replace(state, '"failedShards"', '"failedParts"')`,
    options: `replace(options, '"residuesPerShard"', '"residuesPerPart"')`,
    prepared: `replace(prepared, '"shards"', '"parts"')`,
  },
  plan: `replace(replace(plan, '"residuesPerShard"', '"residuesPerPart"'), '"tailShards"', '"tailParts"')`,
  path: `replace(path, 'work/shards/', 'work/parts/')`,
} as const;

const VERSION_3 = `
DROP TRIGGER plan_never_changes;
UPDATE plan SET plan = ${RENAMED_KEYS.plan};
CREATE TRIGGER plan_never_changes BEFORE UPDATE ON plan
BEGIN SELECT RAISE(ABORT, 'the plan of a run never changes'); END;
UPDATE run SET state = ${RENAMED_KEYS.run.state}, options = ${RENAMED_KEYS.run.options}, prepared = ${RENAMED_KEYS.run.prepared};
DROP INDEX shard_by_state;
DROP INDEX shard_by_number;
DROP INDEX attempt_by_shard;
ALTER TABLE shard RENAME TO part;
ALTER TABLE attempt RENAME COLUMN shard TO part;
ALTER TABLE chunk RENAME COLUMN shard TO part;
ALTER TABLE device_sample RENAME COLUMN tokens_per_s TO residues_per_s;
UPDATE part SET path = ${RENAMED_KEYS.path};
CREATE INDEX part_by_state ON part (state, number, key);
CREATE INDEX part_by_number ON part (number, key);
CREATE INDEX attempt_by_part ON attempt (part);
`;

/**
 * What reveals damage: the SHA-256 of what was stored for a settled part, for the records of one file, and for the plan with its
 * inputs; and the result files as they were written. NULL where a run was made by an earlier version.
 */
const VERSION_4 = `
ALTER TABLE part ADD COLUMN rows_sha256 TEXT;
ALTER TABLE records_file ADD COLUMN rows_sha256 TEXT;
ALTER TABLE run ADD COLUMN plan_sha256 TEXT;
CREATE TABLE result_file (
  name TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** Lowest and highest norm of the embeddings. Norms outside their band no longer fail a part. */
const NORM_COLUMNS = [
  'esm2_norm_low',
  'esm2_norm_high',
  'dnabert_s_norm_low',
  'dnabert_s_norm_high',
] as const;
const FAILURE_CODE = `CASE failure_code WHEN 'norm_out_of_band' THEN 'internal_error' ELSE failure_code END`;

const VERSION_5 = `
ALTER TABLE part ADD COLUMN esm2_norm_low REAL;
ALTER TABLE part ADD COLUMN esm2_norm_high REAL;
ALTER TABLE part ADD COLUMN dnabert_s_norm_low REAL;
ALTER TABLE part ADD COLUMN dnabert_s_norm_high REAL;
UPDATE part SET failure_code = ${FAILURE_CODE};
`;

/** On how much a call rests. evidence is 1 weak, 2 moderate, 3 strong; NULL without a call, and in runs of an earlier version. */
const VERSION_6 = `
ALTER TABLE sequence ADD COLUMN best_score REAL;
ALTER TABLE sequence ADD COLUMN second_score REAL;
ALTER TABLE sequence ADD COLUMN evidence INTEGER;
${EVIDENCE_INDEX.create};
`;

/** As the lasting table, under the same name. */
export const PROVISIONAL_SEQUENCES = `
CREATE TEMP TABLE sequence (
  row INTEGER PRIMARY KEY,
  prediction TEXT NOT NULL,
  reason TEXT,
  virus_score REAL,
  n_chunks_scored INTEGER NOT NULL,
  n_chunks_viral INTEGER NOT NULL,
  n_frames_scored INTEGER NOT NULL,
  best_chunk INTEGER,
  best_frame INTEGER,
  best_score REAL,
  second_score REAL,
  evidence INTEGER
) STRICT;
`;

const VIEW_WITHOUT_EVIDENCE = `
CREATE TEMP VIEW sequence AS SELECT *, NULL AS best_score, NULL AS second_score, NULL AS evidence FROM main.sequence;
`;

/** Why an input was left out of the run while it was being read. */
const VERSION_7 = `
ALTER TABLE input ADD COLUMN failure TEXT;
`;

/** What an event says, for a window in another language. */
const VERSION_8 = `
ALTER TABLE event ADD COLUMN wording TEXT;
`;

const PART_COLUMNS = `id, key, number, parent, ${RENAMED_KEYS.path} AS path, sha256, frame_begin, frame_end, frames, residues,
  chunks, first_row, last_row, state, attempts, device, seconds, scores_sha256, embeddings_sha256, recomputed_fp32,
  frames_failed, frames_outside_norm_band, batch_halvings, bisected, ${FAILURE_CODE} AS failure_code, failure_message,
  ${NORM_COLUMNS.map((column) => `NULL AS ${column}`).join(', ')}`;

const WITHOUT_INPUT_FAILURES = 'CREATE TEMP VIEW input AS SELECT *, NULL AS failure FROM main.input;';

const WITHOUT_DIGESTS = `
CREATE TEMP VIEW records_file AS SELECT *, NULL AS rows_sha256 FROM main.records_file;
CREATE TEMP VIEW result_file AS SELECT NULL AS name, NULL AS bytes, NULL AS sha256 WHERE 0;
${WITHOUT_INPUT_FAILURES}
`;

const EVENTS_BEFORE_VERSION_8 = `
CREATE TEMP VIEW event AS SELECT event, time, level, code, message, detail, NULL AS wording FROM main.event;
`;

const VIEWS_BEFORE_VERSION_4 = `${EVENTS_BEFORE_VERSION_8}
CREATE TEMP VIEW run AS SELECT *, NULL AS plan_sha256 FROM main.run;
CREATE TEMP VIEW part AS SELECT ${PART_COLUMNS}, repeated_proteins, repeated_nucleotides, NULL AS rows_sha256 FROM main.part;
${WITHOUT_DIGESTS}
`;

function viewsBeforeVersion3(repeats: string): string {
  return `${EVENTS_BEFORE_VERSION_8}
CREATE TEMP VIEW run AS SELECT only, run_id, name, created_at, app_version, ${RENAMED_KEYS.run.options} AS options,
  ${RENAMED_KEYS.run.state} AS state, ${RENAMED_KEYS.run.prepared} AS prepared, NULL AS plan_sha256 FROM main.run;
CREATE TEMP VIEW plan AS SELECT only, ${RENAMED_KEYS.plan} AS plan FROM main.plan;
CREATE TEMP VIEW part AS SELECT ${PART_COLUMNS}, ${repeats}, NULL AS rows_sha256 FROM main.shard;
CREATE TEMP VIEW attempt AS SELECT attempt, shard AS part, device, worker_pid, started_at, log, ended_at, outcome, code, message
  FROM main.attempt;
CREATE TEMP VIEW chunk AS SELECT row, chunk, shard AS part, frames, unscored, fp32, is_virus, scores, reason FROM main.chunk;
CREATE TEMP VIEW device_sample AS SELECT device, time, utilization, memory, power, temperature,
  tokens_per_s AS residues_per_s, frames_per_s FROM main.device_sample;
${WITHOUT_DIGESTS}
${VIEW_WITHOUT_EVIDENCE}
`;
}

/** Makes an older file that is only looked at read like one of the current version: `[i]` for a file of version i. */
export const COMPATIBILITY_VIEWS: readonly string[] = [
  '',
  viewsBeforeVersion3('0 AS repeated_proteins, 0 AS repeated_nucleotides'),
  viewsBeforeVersion3('repeated_proteins, repeated_nucleotides'),
  `${VIEWS_BEFORE_VERSION_4}${VIEW_WITHOUT_EVIDENCE}`,
  `CREATE TEMP VIEW part AS SELECT ${PART_COLUMNS}, repeated_proteins, repeated_nucleotides, rows_sha256 FROM main.part;
${VIEW_WITHOUT_EVIDENCE}${WITHOUT_INPUT_FAILURES}${EVENTS_BEFORE_VERSION_8}`,
  `${VIEW_WITHOUT_EVIDENCE}${WITHOUT_INPUT_FAILURES}${EVENTS_BEFORE_VERSION_8}`,
  `${WITHOUT_INPUT_FAILURES}${EVENTS_BEFORE_VERSION_8}`,
  EVENTS_BEFORE_VERSION_8,
];

export const RUN_DATABASE: DatabaseKind = {
  applicationId: 0x564e5052, // "VNPR"
  migrations: [VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5, VERSION_6, VERSION_7, VERSION_8],
  notOurs: 'folder_not_a_run',
};
