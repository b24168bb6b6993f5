import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { AppFailure, type ErrorCode, appFailure } from '../../contract/errors.ts';
import { modelMark } from '../../contract/plan.ts';
import { RESULT_FILES } from '../../contract/results.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import { Extraction } from '../inputs/extractRecords.ts';
import { isPlainFile, pathInRun } from '../system/runFiles.ts';
import type { ExportSource } from './exportSource.ts';
import { noSpaceFor, unfinishedName } from './wholeFile.ts';
import { inputsRead } from '../store/types.ts';
import type { SequenceSelection } from '../store/duckdb/selection.ts';

/** The records of the selected sequences, by row. */
export interface InputSequences {
  /** The record with its letters as in the input. A teaching model's mark ends its header line. */
  record: (row: number) => Buffer;
  close: () => Promise<void>;
}

/** The inputs are no longer where the run found them, or have changed. */
const LOST: ReadonlySet<ErrorCode> = new Set(['input_not_found', 'input_unreadable', 'input_changed']);

/**
 * Extracts the selected sequences from the inputs; if these are gone, from the run's own viral_sequences.fna.
 * Rejects, and names the missing file, if that does not hold all of them. Temporary files are written beside
 * `besidePath`, where there is room for the export.
 */
export async function openInputSequences(
  source: ExportSource,
  selection: SequenceSelection,
  environment: () => Promise<PythonEnvironment>,
  besidePath: string,
): Promise<InputSequences> {
  try {
    return await fromInputs(source, selection, await environment(), besidePath);
  } catch (reason) {
    if (!(reason instanceof AppFailure) || !LOST.has(reason.error.code)) throw reason;
    const own = await fromViralSequences(source);
    if (own !== null) return own;
    throw appFailure(reason.error.code, reason.error.cause, {
      nextStep:
        `Put the file back where it was (${source.run.inputs.map(({ path }) => path).join(', ')}), or export only sequences ` +
        `called virus: the run's own ${RESULT_FILES.viralSequences} holds those.`,
    });
  }
}

/**
 * Takes a few sequences from the run's own viral_sequences.fna if it has them, which is fast; otherwise from
 * the inputs.
 */
export async function openFewSequences(
  source: ExportSource,
  selection: SequenceSelection,
  environment: () => Promise<PythonEnvironment>,
): Promise<InputSequences> {
  const own = await fromViralSequences(source);
  return own ?? openInputSequences(source, selection, environment, join(tmpdir(), 'virnucpro-sequence'));
}

async function fromInputs(
  source: ExportSource,
  selection: SequenceSelection,
  environment: PythonEnvironment,
  besidePath: string,
): Promise<InputSequences> {
  // This is a folder, since a process that is killed leaves a file with a name of its own choice.
  const folder = unfinishedName(besidePath);
  await mkdir(folder);
  const rowsPath = join(folder, 'rows.u32');
  const fastaPath = join(folder, 'sequences.fna');
  try {
    await source.store.writeSelectedRows(selection, rowsPath);
    const extraction = new Extraction(environment);
    const cancel = (): void => void extraction.cancel();
    source.signal?.addEventListener('abort', cancel);
    try {
      await extraction.run({
        inputs: inputsRead(source.run),
        rowsPath,
        outPath: fastaPath,
        headerSuffix: modelMark(source.run.plan.model) ?? '',
      });
    } finally {
      source.signal?.removeEventListener('abort', cancel);
    }
    const fasta = await openFasta(fastaPath);
    return {
      record: recordReader(fasta, (await source.order()).toSorted()),
      close: async () => {
        fasta.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (reason) {
    await rm(folder, { recursive: true, force: true });
    source.signal?.throwIfAborted();
    // The extraction's message about a full disk is meant for a run.
    if (reason instanceof AppFailure && reason.error.code === 'disk_full') throw noSpaceFor(besidePath);
    throw reason;
  }
}

/** Null if it does not hold all of the selected sequences, or is not the file that the run has written. */
async function fromViralSequences(source: ExportSource): Promise<InputSequences | null> {
  const { store, run } = source;
  const path = pathInRun(store.folder, RESULT_FILES.viralSequences);
  // A run that computes again may call other sequences virus than when it wrote the file.
  if (run.state.phase !== 'done' || !isPlainFile(path)) return null;
  const viral = await store.selectedRows(
    { filter: { predictions: ['virus'] } },
    { by: 'row', descending: false },
  );
  const isViral = new Set(viral);
  if (!(await source.order()).every((row) => isViral.has(row))) return null;
  const fasta = await openFasta(path);
  const close = (): Promise<void> => {
    fasta.close();
    return Promise.resolve();
  };
  const { [RESULT_FILES.viralSequences]: written } = await store.resultFiles();
  if (fasta.sha256 !== written?.sha256) {
    await close();
    return null;
  }
  return { record: recordReader(fasta, viral), close };
}

/** `rows`: the row of each record of the file, ascending. */
function recordReader(fasta: FastaFile, rows: Uint32Array): (row: number) => Buffer {
  return (row) => {
    const place = placeOf(rows, row);
    if (place === -1) throw new Error(`Row ${row} was not taken out of the inputs.`);
    return fasta.read(place);
  };
}

function placeOf(rows: Uint32Array, row: number): number {
  let [low, high] = [0, rows.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = rows[middle]!;
    if (found === row) return middle;
    if (found < row) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

const NEW_LINE = 10;
const BEGIN = 62; // ">"

/** A FASTA file whose records are read by number. */
interface FastaFile {
  readonly sha256: string;
  /** The unchanged record, with header line and line breaks. */
  readonly read: (record: number) => Buffer;
  readonly close: () => void;
}

/** Reads the file once, for its SHA-256 and the start of every record. */
async function openFasta(path: string): Promise<FastaFile> {
  const hash = createHash('sha256');
  const offsets: number[] = [];
  let position = 0;
  let atLineStart = true;
  for await (const data of createReadStream(path, { highWaterMark: 1 << 20 })) {
    const block = data as Buffer;
    hash.update(block);
    if (atLineStart && block[0] === BEGIN) offsets.push(position);
    for (let at = block.indexOf(NEW_LINE); at !== -1; at = block.indexOf(NEW_LINE, at + 1))
      if (block[at + 1] === BEGIN) offsets.push(position + at + 1);
    atLineStart = block[block.length - 1] === NEW_LINE;
    position += block.length;
  }
  offsets.push(position);
  const descriptor = openSync(path, 'r');
  const read = (record: number): Buffer => {
    const begin = offsets[record]!;
    const bytes = Buffer.allocUnsafe(offsets[record + 1]! - begin);
    for (let done = 0; done < bytes.length;) {
      const count = readSync(descriptor, bytes, done, bytes.length - done, begin + done);
      if (count === 0) throw new Error('A FASTA file became shorter while it was read.');
      done += count;
    }
    return bytes;
  };
  return { sha256: hash.digest('hex'), read, close: () => closeSync(descriptor) };
}

/** The letters of a record, upper-case, without line breaks. */
export function lettersOf(record: Buffer): string {
  const header = record.indexOf(NEW_LINE);
  return record
    .toString('latin1', header === -1 ? record.length : header)
    .replaceAll('\n', '')
    .toUpperCase();
}
