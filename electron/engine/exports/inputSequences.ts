import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { AppFailure, type ErrorCode, appFailure } from '../../contract/errors.ts';
import { modelMark } from '../../contract/plan.ts';
import { RESULT_FILES } from '../../contract/results.ts';
import type { PythonEnvironment } from '../environment/pythonLaunch.ts';
import { Extraction } from '../inputs/extractRecords.ts';
import { isPlainFile, pathInRun } from '../system/runFiles.ts';
import { nameText } from '../store/sqlite/results/tables/tableRows.ts';
import type { ExportSource } from './exportSource.ts';
import { noSpaceFor, unfinishedName } from './wholeFile.ts';
import type { SequenceSelection } from '../store/duckdb/selection.ts';
import { firstWord } from '../results/cellText.ts';

/** The records of the selected sequences, by row. */
export interface InputSequences {
  /**
   * The record as in the input, with its header line; only the mark of a teaching model is added to the
   * header.
   */
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
    const { inputs, repairs } = source.run.plan;
    const extraction = new Extraction(environment);
    const cancel = (): void => void extraction.cancel();
    source.signal?.addEventListener('abort', cancel);
    try {
      await extraction.run({ inputs, rowsPath, outPath: fastaPath, repairs });
    } finally {
      source.signal?.removeEventListener('abort', cancel);
    }
    const fasta = await FastaFile.open(fastaPath);
    return {
      record: recordReader(source, fasta, Uint32Array.from(source.order).sort()),
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

/** Null if it does not hold all of the selected sequences. */
async function fromViralSequences(source: ExportSource): Promise<InputSequences | null> {
  const path = pathInRun(source.store.folder, RESULT_FILES.viralSequences);
  if (!isPlainFile(path)) return null;
  const viral = await source.store.selectedRows(
    { filter: { predictions: ['virus'] } },
    { by: 'row', descending: false },
  );
  const isViral = new Set(viral);
  if (!source.order.every((row) => isViral.has(row))) return null;
  const fasta = await FastaFile.open(path);
  const close = (): Promise<void> => {
    fasta.close();
    return Promise.resolve();
  };
  if (fasta.records !== viral.length) {
    await close();
    return null;
  }
  return { record: recordReader(source, fasta, viral), close };
}

/** `rows`: the row of each record of the file, ascending. */
function recordReader(source: ExportSource, fasta: FastaFile, rows: Uint32Array): (row: number) => Buffer {
  const mark = modelMark(source.run.plan.model);
  return (row) => {
    const place = placeOf(rows, row);
    if (place === -1) throw new Error(`Row ${row} was not taken out of the inputs.`);
    const record = fasta.read(place);
    if (mark === null) return record;
    const { header, end } = headerOf(record);
    if (header.endsWith(mark)) return record;
    return Buffer.concat([record.subarray(0, end), Buffer.from(` ${mark}`), record.subarray(end)]);
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

/**
 * Refuses a record that differs from the run's record in this row, because the file was changed after the
 * run.
 */
export function checkName(record: Buffer, seqName: string): void {
  const found = nameText(firstWord(headerOf(record).header));
  if (found === seqName) return;
  throw appFailure(
    'input_changed',
    `The sequence ${seqName} is called ${found} in the file that it was to be taken from.`,
  );
}

const NEW_LINE = 10;
const BEGIN = 62; // ">"

/** The start of every record in a FASTA file, and the file's end: one more number than there are records. */
async function recordOffsets(path: string): Promise<number[]> {
  const offsets: number[] = [];
  let position = 0;
  let atLineStart = true;
  for await (const data of createReadStream(path, { highWaterMark: 1 << 20 })) {
    const block = data as Buffer;
    if (atLineStart && block[0] === BEGIN) offsets.push(position);
    for (let at = block.indexOf(NEW_LINE); at !== -1; at = block.indexOf(NEW_LINE, at + 1))
      if (block[at + 1] === BEGIN) offsets.push(position + at + 1);
    atLineStart = block[block.length - 1] === NEW_LINE;
    position += block.length;
  }
  offsets.push(position);
  return offsets;
}

/** A FASTA file whose records are read by number. */
class FastaFile {
  readonly records: number;
  private readonly descriptor: number;
  private readonly offsets: readonly number[];

  private constructor(descriptor: number, offsets: readonly number[]) {
    this.descriptor = descriptor;
    this.offsets = offsets;
    this.records = offsets.length - 1;
  }

  static async open(path: string): Promise<FastaFile> {
    const offsets = await recordOffsets(path);
    return new FastaFile(openSync(path, 'r'), offsets);
  }

  /** The unchanged record, with header line and line breaks. */
  read(record: number): Buffer {
    const begin = this.offsets[record]!;
    const bytes = Buffer.allocUnsafe(this.offsets[record + 1]! - begin);
    for (let done = 0; done < bytes.length;) {
      const count = readSync(this.descriptor, bytes, done, bytes.length - done, begin + done);
      if (count === 0) throw new Error('A FASTA file became shorter while it was read.');
      done += count;
    }
    return bytes;
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

/** The header line of a record without its '>', and where the letters begin. */
export function headerOf(record: Buffer): { header: string; end: number } {
  const end = record.indexOf(NEW_LINE);
  const stop = end === -1 ? record.length : end;
  return { header: record.toString('utf8', 1, stop), end: stop };
}

/** The letters of a record, upper-case, without line breaks. */
export function lettersOf(record: Buffer): string {
  return record.toString('latin1', headerOf(record).end).replaceAll('\n', '').toUpperCase();
}
