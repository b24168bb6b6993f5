import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { memoryProfileSchema } from '../../../contract/protocol/index.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { networkFileSystem } from '../networkFileSystem.ts';
import { verdictOf } from './checkDatabase.ts';
import { checkKind, isEmptyDatabase, migrate, type DatabaseKind, isDamage, readToEnd } from './database.ts';
import type { DeviceUse, HistoryEntry, JsonValue, LearntBatch } from '../types.ts';
import { replaceFile } from '../../system/replaceFile.ts';

const TABLES = `
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE history (
  run_id TEXT PRIMARY KEY,
  folder TEXT NOT NULL,
  inputs TEXT NOT NULL,
  summary TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE learnt_batch (
  device_uuid TEXT NOT NULL,
  model_hash TEXT NOT NULL,
  precision TEXT NOT NULL,
  tokens_per_batch INTEGER NOT NULL,
  profile TEXT,
  PRIMARY KEY (device_uuid, model_hash, precision)
) STRICT, WITHOUT ROWID;
`;

export const LIBRARY_DATABASE: DatabaseKind = {
  applicationId: 0x564e504c, // "VNPL"
  migrations: [TABLES],
  notOurs: 'internal',
};

/**
 * Opens the user's library, creating it if there is none. Several programs may have it open at once. A
 * damaged library is set aside: it must not keep the program from starting, since every run is in its own
 * folder and can be opened from there.
 */
export function openLibrary(path: string) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    return libraryMethods(openDatabase(path));
  } catch (error) {
    if (!isDamage(error)) throw error;
    readToEnd(path);
    process.stderr.write(
      `The list of runs and the settings were damaged; they start empty, and the damaged file is ${setAside(path)}. ` +
        'Runs are complete in their folders: open them there.\n',
    );
    return libraryMethods(openDatabase(path));
  }
}

function openDatabase(path: string): Database.Database {
  const db = new Database(path);
  keepToThisAccount(path);
  try {
    if (!isEmptyDatabase(db)) checkKind(db, LIBRARY_DATABASE);
    if (!networkFileSystem(dirname(path))) db.pragma('journal_mode = WAL');
    migrate(db, LIBRARY_DATABASE);
    const found = verdictOf(db, 'quick_check(1)');
    if (found !== null) throw new Database.SqliteError(found, 'SQLITE_CORRUPT');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** It contains names of runs and files. SQLite's files beside it get the same mode. */
function keepToThisAccount(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch {
    // The disk has no modes, or the file belongs to another account.
  }
}

function setAside(path: string): string {
  const kept = `${path}.damaged-${Date.now()}`;
  replaceFile(path, kept);
  // These files belong to the damaged file, and would damage the new one.
  for (const ending of ['-wal', '-shm']) rmSync(path + ending, { force: true });
  return kept;
}

export type LibraryMethods = ReturnType<typeof openLibrary>;

function libraryMethods(db: Database.Database) {
  const getSetting = db.prepare<[string], string>('SELECT value FROM setting WHERE key = ?').pluck();
  const saveSetting = db.prepare('INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)');
  const deleteSetting = db.prepare('DELETE FROM setting WHERE key = ?');
  const saveEntry = db.prepare('INSERT OR REPLACE INTO history VALUES (?, ?, ?, ?)');
  const deleteEntry = db.prepare('DELETE FROM history WHERE run_id = ?');
  const entries = db.prepare<[], HistoryColumns>('SELECT * FROM history ORDER BY run_id');
  const saveBatch = db.prepare('INSERT OR REPLACE INTO learnt_batch VALUES (?, ?, ?, ?, ?)');
  const getBatch = db.prepare<[string, string, string], { tokens_per_batch: number; profile: string | null }>(
    'SELECT tokens_per_batch, profile FROM learnt_batch WHERE device_uuid = ? AND model_hash = ? AND precision = ?',
  );
  const dataVersion = () => db.pragma('data_version', { simple: true });
  let seenVersion = dataVersion();
  return {
    setting: (key: string): JsonValue | undefined => parseJson(anyJson, getSetting.get(key)),
    /** `undefined` removes the setting. */
    setSetting: (key: string, value: JsonValue | undefined): void => {
      if (value === undefined) deleteSetting.run(key);
      else saveSetting.run(key, JSON.stringify(value));
    },
    /** Adds or replaces by run id. */
    saveRun: ({ runId, folder, inputs, summary }: HistoryEntry): void =>
      void saveEntry.run(runId, folder, JSON.stringify(inputs), JSON.stringify(summary)),
    history: (): HistoryEntry[] => entries.all().map(toEntry),
    removeRun: (runId: string): void => void deleteEntry.run(runId),
    /** The history if another program has changed the library since this was last asked; null otherwise. */
    historyChangedElsewhere: (): HistoryEntry[] | null => {
      const before = seenVersion;
      seenVersion = dataVersion();
      return seenVersion === before ? null : entries.all().map(toEntry);
    },
    learntBatch: ({ deviceUuid, modelHash, precision }: DeviceUse): LearntBatch | null => {
      const row = getBatch.get(deviceUuid, modelHash, precision);
      if (row === undefined) return null;
      // A profile that can't be read is measured again.
      const profile = parseJson(memoryProfileSchema, row.profile ?? undefined) ?? null;
      return { deviceUuid, modelHash, precision, tokensPerBatch: row.tokens_per_batch, profile };
    },
    saveLearntBatch: ({ deviceUuid, modelHash, precision, tokensPerBatch, profile }: LearntBatch): void =>
      void saveBatch.run(
        deviceUuid,
        modelHash,
        precision,
        tokensPerBatch,
        profile && JSON.stringify(profile),
      ),
    close: (): void => void db.close(),
  };
}

interface HistoryColumns {
  run_id: string;
  folder: string;
  inputs: string;
  summary: string;
}

/** This program alone writes it, so only JSON validity is checked here; its users check the meaning. */
const anyJson = z.custom<JsonValue>();

function toEntry({ run_id, folder, inputs, summary }: HistoryColumns): HistoryEntry {
  return {
    runId: run_id,
    folder,
    inputs: parseJson(z.array(z.string()), inputs) ?? [],
    summary: parseJson(anyJson, summary) ?? null,
  };
}
