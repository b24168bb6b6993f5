import { join } from 'node:path';
import type { Plan } from '../../../contract/plan.ts';
import type {
  InputDone,
  PreparedPart,
  PrepareDone,
  RecordsFile,
  PartDone,
} from '../../../contract/protocol/index.ts';
import { framesIn } from '../../results/sequenceTally.ts';
import type { RunDescription } from '../types.ts';
import { writeSafetensors } from './safetensorsWriter.ts';

/** A record of a made-up run: the open frames of each chunk (bit mask). A fault replaces the chunks. */
export interface SyntheticRecord {
  header: string;
  length: number;
  openFrames: number[];
  fault?: 'empty' | 'invalid_characters' | 'malformed_record';
  /** Bases of a direct terminal repeat. */
  repeat?: number;
  lostToTag?: number;
  lostToTga?: number;
  geneticCode?: 4 | 15;
}

export interface FrameRef {
  row: number;
  chunk: number;
  frame: number;
}

/** Prepare's reports for inputs made of such records, with its files written to `folder`. */
export interface SyntheticPrepare {
  records: RecordsFile[];
  parts: PreparedPart[];
  /** Frames of each part, by key. */
  frames: Map<string, FrameRef[]>;
  inputs: InputDone[];
  done: PrepareDone;
}

const FAULTS = ['ok', 'empty', 'invalid_characters', 'malformed_record'];
const RESIDUES_PER_FRAME = 10;

export function inputHash(input: number): string {
  return String(input).repeat(64).slice(0, 64);
}

export function syntheticPlan(inputs: number): Plan {
  return {
    inputs: Array.from({ length: inputs }, (_, input) => ({
      path: `/data/reads_${input}.fasta`,
      sizeBytes: 1000,
      sha256: inputHash(input),
    })),
    model: {
      name: 'teaching',
      title: 'Teaching model',
      hash: 'f'.repeat(64),
      folder: '/models/teaching',
      notice: 'teaching model, not for research',
    },
    chunkLength: 500,
    precision: 'fp32',
    tokensPerBatch: 4096,
    residuesPerPart: 16384,
    tailParts: 32,
    order: 'file',
    orderSeed: 0,
    firstRound: 1 / 256,
    embedEqualSequencesOnce: true,
    embeddings: null,
  };
}

export const DESCRIPTION: RunDescription = {
  runId: 'run-1',
  name: 'Synthetic',
  createdAt: 1_700_000_000_000,
  appVersion: '0.1.0',
  options: { samples: ['pond'] },
};

export interface PreparedSizes {
  framesPerPart?: number;
  recordsPerFile?: number;
  /** The round in which a chunk is computed. */
  roundOf?: (row: number, chunk: number) => number;
}

/** Writes records and part files like prepare, with parts of `framesPerPart` frames cut between chunks. */
export function writePrepared(
  folder: string,
  inputs: SyntheticRecord[][],
  { framesPerPart = 8, recordsPerFile = 131_072, roundOf = (): number => 0 }: PreparedSizes = {},
): SyntheticPrepare {
  const records = inputs.flatMap((own, input) => own.map((record) => ({ ...record, input })));
  const parts: { round: number; frames: FrameRef[] }[] = [];
  const open = new Map<number, FrameRef[]>();
  records.forEach((record, row) =>
    record.openFrames.forEach((mask, chunk) => {
      const frames = framesIn(mask).map((frame) => ({ row, chunk, frame }));
      if (frames.length === 0) return;
      const round = roundOf(row, chunk);
      const last = open.get(round);
      if (last && last.length + frames.length <= framesPerPart) {
        last.push(...frames);
      } else {
        open.set(round, frames);
        parts.push({ round, frames });
      }
    }),
  );
  const prepared = parts.map(({ round, frames }, number) => writePart(folder, number, round, frames));
  const files: RecordsFile[] = [];
  for (let first = 0; first < records.length; first += recordsPerFile)
    files.push(writeRecords(folder, files.length, first, records.slice(first, first + recordsPerFile)));

  let firstRow = 0;
  const done: InputDone[] = inputs.map((own, input) => {
    const bases = own.reduce((sum, { length }) => sum + length, 0);
    const event: InputDone = {
      type: 'input_done',
      input,
      sha256: inputHash(input),
      records: own.length,
      bases,
      first_row: firstRow,
    };
    firstRow += own.length;
    return event;
  });
  return {
    records: files,
    parts: prepared,
    frames: new Map(prepared.map(({ key }, i) => [key, parts[i]!.frames])),
    inputs: done,
    done: doneEvent(records, prepared),
  };
}

function doneEvent(records: SyntheticRecord[], parts: PreparedPart[]): PrepareDone {
  const notScored: Record<string, number> = {};
  for (const { fault } of records) if (fault) notScored[fault] = (notScored[fault] ?? 0) + 1;
  return {
    type: 'done',
    records: records.length,
    chunks: records.reduce((sum, { openFrames }) => sum + openFrames.length, 0),
    frames: parts.reduce((sum, { frames }) => sum + frames, 0),
    residues: parts.reduce((sum, { residues }) => sum + residues, 0),
    parts: parts.length,
    scorable_records: records.filter(({ fault }) => !fault).length,
    not_scored: notScored,
  };
}

/** Writes a scores file like a worker and returns its report. NaN scores are failed frames. */
export function writeScores(
  folder: string,
  part: Pick<PreparedPart, 'residues'>,
  key: string,
  frames: FrameRef[],
  score2Of: (frame: FrameRef) => number,
): PartDone {
  const score2 = Float32Array.from(frames, score2Of);
  const score1 = score2.map((score) => 1 - score);
  const state = Uint8Array.from(score2, (score) => (Number.isNaN(score) ? 2 : 0));
  const path = `work/scores/${key}.safetensors`;
  return {
    type: 'part_done',
    part: key,
    scores_path: path,
    scores_sha256: writeSafetensors(join(folder, path), { score1, score2, state }),
    embeddings_sha256: null,
    frames: frames.length,
    residues: part.residues,
    seconds: 0.5,
    frames_recomputed_fp32: 0,
    frames_failed: state.filter((value) => value === 2).length,
    frames_outside_norm_band: 0,
    norms: { esm2: [13, 14.5], dnabert_s: [2.5, 4] },
    batch_halvings: 0,
    repeated_proteins: 0,
    repeated_nucleotides: 0,
    esm2_batches: 1,
    esm2_tokens: 0,
    peak_memory_bytes: 0,
    peak_allocated_bytes: null,
  };
}

function writePart(folder: string, number: number, round: number, frames: FrameRef[]): PreparedPart {
  const key = String(number).padStart(6, '0');
  const path = `work/parts/${key}.safetensors`;
  const residues = frames.length * RESIDUES_PER_FRAME;
  const offsets = Uint32Array.from({ length: frames.length + 1 }, (_, i) => i * RESIDUES_PER_FRAME);
  const nucleotidesPerFrame = 3 * RESIDUES_PER_FRAME + 1;
  const sha256 = writeSafetensors(join(folder, path), {
    row: Uint32Array.from(frames, ({ row }) => row),
    chunk: Uint32Array.from(frames, ({ chunk }) => chunk),
    frame: Uint8Array.from(frames, ({ frame }) => frame),
    residues: new Uint8Array(residues).fill(77),
    residue_offsets: offsets,
    nucleotides: new Uint8Array(frames.length * nucleotidesPerFrame).fill(65),
    nucleotide_offsets: Uint32Array.from(offsets, (_, i) => i * nucleotidesPerFrame),
  });
  return {
    type: 'part',
    key,
    path,
    sha256,
    frames: frames.length,
    residues,
    chunks: new Set(frames.map(({ row, chunk }) => `${row} ${chunk}`)).size,
    first_row: frames[0]!.row,
    last_row: frames[frames.length - 1]!.row,
    round,
  };
}

function writeRecords(
  folder: string,
  number: number,
  firstRow: number,
  records: (SyntheticRecord & { input: number })[],
): RecordsFile {
  const path = `work/records/${String(number).padStart(6, '0')}.safetensors`;
  const headers = records.map(({ header }) => Buffer.from(header, 'utf8'));
  let end = 0n;
  const headerOffsets = BigUint64Array.from([0n, ...headers.map(({ length }) => (end += BigInt(length)))]);
  const sha256 = writeSafetensors(join(folder, path), {
    row: Uint32Array.from(records, (_, i) => firstRow + i),
    input: Uint32Array.from(records, ({ input }) => input),
    byte_offset: BigUint64Array.from(records, (_, i) => BigInt(1000 * i)),
    length: BigUint64Array.from(records, ({ length }) => BigInt(length)),
    n_chunks: Uint32Array.from(records, ({ openFrames }) => openFrames.length),
    n_frames: Uint32Array.from(records, ({ openFrames }) =>
      openFrames.reduce((sum, mask) => sum + framesIn(mask).length, 0),
    ),
    n_lost: Uint32Array.from(records, ({ openFrames }) => openFrames.filter((mask) => mask === 0).length),
    n_lost_to_tag: Uint32Array.from(records, ({ lostToTag }) => lostToTag ?? 0),
    n_lost_to_tga: Uint32Array.from(records, ({ lostToTga }) => lostToTga ?? 0),
    genetic_code: Uint8Array.from(records, ({ geneticCode }) => geneticCode ?? 0),
    repeat_kind: Uint8Array.from(records, ({ repeat }) => (repeat === undefined ? 0 : 1)),
    repeat_length: Uint32Array.from(records, ({ repeat }) => repeat ?? 0),
    reason: Uint8Array.from(records, ({ fault }) => FAULTS.indexOf(fault ?? 'ok')),
    header: Buffer.concat(headers),
    header_offsets: headerOffsets,
    name_bytes: Uint32Array.from(records, ({ header }) => Buffer.byteLength(header.split(/[ \t]/)[0]!)),
  });
  return { type: 'records', path, sha256, first_row: firstRow, count: records.length };
}

/** A record whose chunks of 500 bases have the given open frames. */
export function recordOf(header: string, openFrames: number[]): SyntheticRecord {
  return { header, length: openFrames.length * 500 - (openFrames.length > 1 ? 7 : 0), openFrames };
}
