import type { DatabaseKind } from './database.ts';

/**
 * The tables of run.db. Times are milliseconds since the epoch. parts/digests.ts describes what each column
 * named `..._sha256` covers.
 */
const TABLES = `
CREATE TABLE run (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  run_id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  app_version TEXT NOT NULL,
  options TEXT NOT NULL,
  state TEXT NOT NULL,
  prepared TEXT,
  plan_sha256 TEXT
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
  first_row INTEGER,
  failure TEXT
) STRICT;

CREATE TABLE input_problem (
  input INTEGER NOT NULL REFERENCES input (input),
  code TEXT NOT NULL,
  variables TEXT NOT NULL,
  count INTEGER NOT NULL,
  examples TEXT NOT NULL,
  PRIMARY KEY (input, code)
) STRICT, WITHOUT ROWID;

CREATE TABLE records_file (
  path TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL,
  first_row INTEGER NOT NULL,
  count INTEGER NOT NULL,
  rows_sha256 TEXT
) STRICT, WITHOUT ROWID;

-- header is NULL where the whole header line is the name. n_lost: chunks without an open frame, n_lost_to_...: those of them that
-- would have one if TAG, or TGA, were no stop codon. genetic_code: the one that the sequence may need.
CREATE TABLE record (
  row INTEGER PRIMARY KEY,
  input INTEGER NOT NULL,
  byte_offset INTEGER NOT NULL,
  length INTEGER NOT NULL,
  n_chunks INTEGER NOT NULL,
  n_frames INTEGER NOT NULL,
  n_lost INTEGER NOT NULL CHECK (n_lost BETWEEN 0 AND n_chunks),
  n_lost_to_tag INTEGER NOT NULL CHECK (n_lost_to_tag BETWEEN 0 AND n_chunks),
  n_lost_to_tga INTEGER NOT NULL CHECK (n_lost_to_tga BETWEEN 0 AND n_chunks),
  genetic_code INTEGER CHECK (genetic_code IN (4, 15)),
  terminal_repeat TEXT CHECK (terminal_repeat IN ('DTR', 'ITR')),
  terminal_repeat_length INTEGER CHECK (terminal_repeat_length BETWEEN 1 AND length),
  reason TEXT,
  name TEXT NOT NULL,
  header TEXT
) STRICT;

CREATE TABLE part (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  number INTEGER NOT NULL,
  parent TEXT,
  sha256 TEXT NOT NULL,
  frame_begin INTEGER NOT NULL,
  frame_end INTEGER NOT NULL,
  frames INTEGER NOT NULL,
  residues INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  first_row INTEGER NOT NULL,
  last_row INTEGER NOT NULL,
  round INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'assigned', 'done', 'failed', 'split', 'skipped')),
  attempts INTEGER NOT NULL DEFAULT 0,
  device TEXT,
  seconds REAL,
  scores_sha256 TEXT,
  embeddings_sha256 TEXT,
  recomputed_fp32 INTEGER NOT NULL DEFAULT 0,
  frames_failed INTEGER NOT NULL DEFAULT 0,
  frames_outside_norm_band INTEGER NOT NULL DEFAULT 0,
  esm2_norm_low REAL,
  esm2_norm_high REAL,
  dnabert_s_norm_low REAL,
  dnabert_s_norm_high REAL,
  batch_halvings INTEGER NOT NULL DEFAULT 0,
  bisected INTEGER NOT NULL DEFAULT 0,
  repeated_proteins INTEGER NOT NULL DEFAULT 0,
  repeated_nucleotides INTEGER NOT NULL DEFAULT 0,
  failure_code TEXT,
  failure_message TEXT,
  rows_sha256 TEXT
) STRICT;
CREATE INDEX part_by_state ON part (state, number, key);
CREATE INDEX part_by_number ON part (number, key);

CREATE TABLE attempt (
  attempt INTEGER PRIMARY KEY AUTOINCREMENT,
  part TEXT NOT NULL REFERENCES part (key) ON DELETE CASCADE,
  device TEXT NOT NULL,
  worker_pid INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  log TEXT,
  ended_at INTEGER,
  outcome TEXT,
  code TEXT,
  message TEXT
) STRICT;
CREATE INDEX attempt_by_part ON attempt (part);
CREATE INDEX attempt_open ON attempt (attempt) WHERE ended_at IS NULL;

-- Chunks with at least one open frame. frames, unscored and fp32 are bit masks, bit 0 = F1 to bit 5 = R3: frames there
-- are, those without a score, those recomputed in FP32. scores holds little-endian float32 pairs (score1, score2) of
-- the scored frames in mask order. is_virus is the chunk call; NULL with a reason where the chunk has none.
CREATE TABLE chunk (
  row INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  part INTEGER NOT NULL,
  frames INTEGER NOT NULL,
  unscored INTEGER NOT NULL,
  fp32 INTEGER NOT NULL,
  is_virus INTEGER,
  scores BLOB,
  reason TEXT,
  PRIMARY KEY (row, chunk)
) STRICT, WITHOUT ROWID;

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
  residues_per_s REAL,
  frames_per_s REAL,
  PRIMARY KEY (device, time)
) STRICT, WITHOUT ROWID;

-- wording: what the event says, for a window in another language.
CREATE TABLE event (
  event INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  level TEXT NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  detail TEXT,
  wording TEXT
) STRICT;

CREATE TABLE result_file (
  name TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

export const RUN_DATABASE: DatabaseKind = {
  applicationId: 0x564e5052, // "VNPR"
  migrations: [TABLES],
  notOurs: 'folder_not_a_run',
};
