import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { AppFailure } from '../../../contract/errors.ts';
import { RESULT_FILES } from '../../../contract/results.ts';
import { randomNumbers } from '../../testing/randomNumbers.ts';
import { isFileError } from '../sqlite/files/safetensorsFile.ts';
import { openRunReader, openRunWriter, type RunMethods } from '../runDatabase.ts';
import { allOf } from '../storeThread.ts';
import type { ResultFileDigest } from '../types.ts';
import { filesOf, writeFiles, type Files } from './folderFiles.ts';
import { scoreOf } from './storeFixture.ts';
import {
  DESCRIPTION,
  recordOf,
  syntheticPlan,
  writePrepared,
  writeScores,
  type SyntheticPrepare,
} from './syntheticRun.ts';

/** The outcomes of flipping bits, one at a time, anywhere in the files of a run. */
export interface FlipCounts {
  tried: number;
  /** Verifying found the flip. */
  found: number;
  /** Verifying did not find it, but continuing the run was refused with a message. */
  refusedLater: number;
  /** Nothing was reported, and the run gave the same tables. */
  harmless: number;
  /** Found flips after which the resumed run gave the same tables. */
  repaired: number;
  /**
   * Flips that changed a table without a report, or that were reported but gave another table after resuming.
   * Named by file and bit.
   */
  changed: string[];
}

interface Sample {
  name: 'paused' | 'finished';
  files: Files;
}

/** Tables that need only run.db; the other result files are stand-ins here. */
const TABLES = [
  RESULT_FILES.originalFrames,
  RESULT_FILES.originalChunks,
  RESULT_FILES.sequences,
  RESULT_FILES.chunks,
  RESULT_FILES.results,
  RESULT_FILES.failedFiles,
  RESULT_FILES.failedRecords,
];

/** Flips `count` bits, each in an otherwise intact run: half of them paused, half finished. */
export async function tryFlips(
  count: number,
  seed: number,
  onTrial?: (tried: number) => void,
): Promise<FlipCounts> {
  const folder = mkdtempSync(join(tmpdir(), 'virnucpro-flips-'));
  try {
    const prepared = prepare(folder);
    const paused = await makeRun(folder, prepared, 'paused');
    const finished = await makeRun(folder, prepared, 'finished');
    const baseline = tablesOf(finished.files);
    const counts: FlipCounts = {
      tried: 0,
      found: 0,
      refusedLater: 0,
      harmless: 0,
      repaired: 0,
      changed: [],
    };
    const random = randomNumbers(seed);
    for (let i = 0; i < count; i++) {
      const sample = i % 2 === 0 ? paused : finished;
      const flip = chooseBit(sample.files, random);
      const trial = join(folder, 'trial');
      rmSync(trial, { recursive: true, force: true });
      writeFiles(trial, flipped(sample.files, flip));
      judge(counts, `${sample.name}: ${flip.file}, byte ${flip.byte}, bit ${flip.bit}`, {
        isFound: !(await isWhole(trial)),
        outcome: await resumeTrial(trial, prepared, baseline),
      });
      onTrial?.(counts.tried);
    }
    return counts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function judge(
  counts: FlipCounts,
  where: string,
  { isFound, outcome }: { isFound: boolean; outcome: 'same' | 'refused' | 'changed' },
): void {
  counts.tried += 1;
  if (outcome === 'changed') counts.changed.push(where);
  else if (isFound) counts.found += 1;
  else if (outcome === 'refused') counts.refusedLater += 1;
  else counts.harmless += 1;
  if (isFound && outcome === 'same') counts.repaired += 1;
}

function prepare(folder: string): SyntheticPrepare {
  const masks = [1, 2, 9, 16, 33, 24, 4, 63];
  const record = (name: string, i: number) =>
    recordOf(`${name}_${i} of sample A`, [masks[i % 8]!, masks[(3 * i) % 8]!]);
  const inputs = ['a', 'b'].map((name) => [
    ...Array.from({ length: 40 }, (_, i) => record(name, i)),
    { header: `empty_${name}`, length: 0, openFrames: [], fault: 'empty' as const },
  ]);
  return writePrepared(join(folder, 'prepared'), inputs, { framesPerPart: 24, recordsPerFile: 32 });
}

async function makeRun(folder: string, prepared: SyntheticPrepare, name: Sample['name']): Promise<Sample> {
  const run = join(folder, name);
  writeFiles(run, filesOf(join(folder, 'prepared')));
  mkdirSync(join(run, 'logs'));
  writeFileSync(join(run, 'logs', 'run.log'), 'a line\n'.repeat(20));
  const methods = allOf(openRunWriter(run, { plan: syntheticPlan(2), description: DESCRIPTION }).groups);
  report(methods, prepared);
  const pending = methods.pendingParts();
  const parts = name === 'finished' ? pending : pending.slice(0, pending.length / 2);
  for (const { key } of parts) settle(run, methods, prepared, key);
  if (name === 'finished') {
    const files: Record<string, ResultFileDigest> = { ...(await methods.writeTables()).files };
    for (const other of [RESULT_FILES.run, RESULT_FILES.viralSequences]) {
      writeFileSync(join(run, other), `${other} `.repeat(50));
      files[other] = digestOf(readFileSync(join(run, other)));
    }
    methods.saveResultFiles(files);
    methods.setState({ phase: 'done', failedParts: 0, failedRecords: 0 });
  } else {
    methods.setState({ phase: 'paused', error: null });
  }
  await methods.close();
  return { name, files: filesOf(run) };
}

function report(methods: RunMethods, prepared: SyntheticPrepare): void {
  for (const file of prepared.records) methods.ingestRecords(file);
  for (const part of prepared.parts) methods.registerPart(part);
  for (const input of prepared.inputs) methods.finishInput(input);
  methods.finishPrepare(prepared.done);
}

/** One part has failed, so that the lists of failures have content too. */
const FAILED = '000000';

function settle(folder: string, methods: RunMethods, prepared: SyntheticPrepare, key: string): void {
  if (key === FAILED) methods.failPart(key, { code: 'out_of_memory', message: 'Too large.' });
  else compute(folder, methods, prepared, key);
}

function compute(folder: string, methods: RunMethods, prepared: SyntheticPrepare, key: string): void {
  const start = { part: key, device: 'cpu:0', workerPid: 1, startedAt: 1, log: null };
  const attempt = methods.startAttempt(start) ?? -1;
  const part = methods.part(key);
  const frames = prepared.frames.get(key) ?? [];
  if (!part) throw new Error(`no part ${key}`);
  const { outcome } = methods.completePart(writeScores(folder, part, key, frames, scoreOf), attempt, 2);
  if (outcome !== 'taken') throw new Damage(`part ${key}: ${outcome}`);
}

class Damage extends Error {}

/** Like `verifyRun`, without threads. */
async function isWhole(folder: string): Promise<boolean> {
  try {
    const reader = allOf(openRunReader(folder));
    try {
      const run = reader.loadRun();
      if (reader.checkPages() !== null || reader.findDamage().found.length > 0) return false;
      if (reader.verifyPendingParts().length > 0) return false;
      if (run.state.phase !== 'done') return true;
      const noted = reader.resultFiles();
      return Object.values(RESULT_FILES).every((name) => {
        const { bytes, sha256 } = digestOf(readFileSync(join(folder, name)));
        return noted[name]?.bytes === bytes && noted[name].sha256 === sha256;
      });
    } finally {
      await reader.close();
    }
  } catch (error) {
    return refusedInWords(error);
  }
}

/** Continues the run as the engine does: repairs damage, computes waiting parts, writes the tables. */
async function resumeTrial(
  folder: string,
  prepared: SyntheticPrepare,
  baseline: Files,
): Promise<'same' | 'refused' | 'changed'> {
  try {
    const methods = allOf(openRunWriter(folder, null).groups);
    try {
      methods.loadRun();
      methods.repairDamage();
      const lost = methods.verifyPendingParts();
      if (lost.length > 0) methods.invalidatePrepare();
      if (methods.loadRun().prepared === null) {
        writeFiles(folder, filesOf(join(folder, '..', 'prepared')));
        report(methods, prepared);
      }
      for (const { key } of methods.pendingParts()) settle(folder, methods, prepared, key);
      methods.refuseDamage();
      await methods.writeTables();
    } finally {
      await methods.close();
    }
  } catch (error) {
    refusedInWords(error);
    return 'refused';
  }
  const tables = tablesOf(filesOf(folder));
  return [...baseline].every(([name, bytes]) => tables.get(name)?.equals(bytes)) ? 'same' : 'changed';
}

/**
 * Whether damage is reported properly: by our own error, or by one of SQLite or of the file system, which the
 * store explains.
 */
function refusedInWords(error: unknown): false {
  if (error instanceof AppFailure || error instanceof Damage) return false;
  if (error instanceof Database.SqliteError || isFileError(error)) return false;
  throw error;
}

interface Flip {
  file: string;
  byte: number;
  bit: number;
}

function chooseBit(files: Files, random: () => number): Flip {
  const all = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  let byte = Math.floor(random() * all);
  for (const [file, { length }] of files) {
    if (byte < length) return { file, byte, bit: Math.floor(random() * 8) };
    byte -= length;
  }
  throw new Error('there is nothing to flip');
}

function flipped(files: Files, { file, byte, bit }: Flip): Files {
  const bytes = Buffer.from(files.get(file) ?? '');
  bytes[byte] = (bytes[byte] ?? 0) ^ (1 << bit);
  return new Map([...files, [file, bytes]]);
}

function tablesOf(files: Files): Files {
  return new Map(TABLES.map((name) => [name, files.get(name) ?? Buffer.alloc(0)]));
}

function digestOf(bytes: Buffer): ResultFileDigest {
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}
