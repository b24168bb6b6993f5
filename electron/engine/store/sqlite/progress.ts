import type Database from 'better-sqlite3';
import { partStateSchema, type PartState } from '../../../contract/runState.ts';
import { readInputs } from './runRows.ts';
import type { InputProgress, NormRange, RunCounts, StoredInput, WorkCount } from '../types.ts';

export function readCounts(db: Database.Database): RunCounts {
  interface Columns {
    state: PartState;
    parts: number;
    frames: number;
    residues: number;
    bounded: number;
    taken_over: number | null;
    recomputed: number;
    repeated_proteins: number;
    repeated_nucleotides: number;
    outside_norm_band: number;
    esm2_norm_low: number | null;
    esm2_norm_high: number | null;
    dnabert_s_norm_low: number | null;
    dnabert_s_norm_high: number | null;
  }
  const rows = db
    .prepare<[], Columns>(
      `SELECT state, count(*) AS parts, sum(frames) AS frames, sum(residues) AS residues,
         sum(bisected OR batch_halvings > 0) AS bounded, sum(residues) FILTER (WHERE device IS NULL) AS taken_over, sum(recomputed_fp32 > 0) AS recomputed,
         sum(repeated_proteins) AS repeated_proteins, sum(repeated_nucleotides) AS repeated_nucleotides,
         sum(frames_outside_norm_band) AS outside_norm_band,
         min(esm2_norm_low) AS esm2_norm_low, max(esm2_norm_high) AS esm2_norm_high,
         min(dnabert_s_norm_low) AS dnabert_s_norm_low, max(dnabert_s_norm_high) AS dnabert_s_norm_high
       FROM part GROUP BY state`,
    )
    .all();
  const parts = Object.fromEntries(partStateSchema.options.map((state) => [state, 0])) as RunCounts['parts'];
  const frames = noWork();
  const residues = noWork();
  for (const row of rows) {
    parts[row.state] = row.parts;
    count(frames, row.state, row.frames);
    count(residues, row.state, row.residues);
  }
  const done = rows.find((row) => row.state === 'done');
  return {
    parts,
    frames,
    residues,
    // Rows are numbered from 0 without gaps.
    records: db.prepare<[], number>('SELECT coalesce(max(row) + 1, 0) FROM record').pluck().get() ?? 0,
    boundedParts: done?.bounded ?? 0,
    residuesTakenOver: done?.taken_over ?? 0,
    recomputedParts: done?.recomputed ?? 0,
    repeatedProteins: done?.repeated_proteins ?? 0,
    repeatedNucleotides: done?.repeated_nucleotides ?? 0,
    outsideNormBand: done?.outside_norm_band ?? 0,
    norms: {
      esm2: range(done?.esm2_norm_low, done?.esm2_norm_high),
      dnabertS: range(done?.dnabert_s_norm_low, done?.dnabert_s_norm_high),
    },
  };
}

/** Progress of each input, from one pass over inputs and parts, both in the order of their rows. */
export function readInputProgress(db: Database.Database): InputProgress[] {
  const prepared = db.prepare<[], number>('SELECT prepared IS NOT NULL FROM run').pluck().get() === 1;
  interface Columns {
    state: PartState;
    residues: number;
    seconds: number | null;
    first_row: number;
    last_row: number;
  }
  const parts = db
    .prepare<[], Columns>(
      `SELECT state, residues, seconds, first_row, last_row FROM part WHERE state <> 'split' ORDER BY first_row, last_row`,
    )
    .all();
  const inputs = readInputs(db);
  const progress = inputs.map(({ input }) => noProgress(input));
  const known = inputs.filter(({ prepared: found }) => found !== null && found.records > 0);
  let next = 0;
  for (const { state, residues, seconds, first_row, last_row } of parts) {
    while (known[next] && endRow(known[next]!) <= first_row) next++;
    const spanned: { own: InputProgress; bases: number }[] = [];
    for (let i = next; i < known.length && known[i]!.prepared!.firstRow <= last_row; i++) {
      const { firstRow, records, bases } = known[i]!.prepared!;
      const rows = Math.min(last_row + 1, firstRow + records) - Math.max(first_row, firstRow);
      spanned.push({ own: progress[known[i]!.input]!, bases: (Math.max(bases, 1) * rows) / records });
    }
    const allBases = spanned.reduce((sum, { bases }) => sum + bases, 0);
    for (const { own, bases } of spanned) {
      const share = bases / allBases;
      own.parts++;
      if (state === 'done') {
        own.partsDone++;
        own.deviceSeconds += (seconds ?? 0) * share;
      }
      if (state === 'assigned') own.partsInWork++;
      if (state === 'failed' || state === 'skipped') own.partsFailed++;
      count(own.residues, state, residues * share);
    }
  }
  for (const { input } of known) {
    const own = progress[input]!;
    const { total, done, failed } = own.residues;
    own.residues = { total: Math.round(total), done: Math.round(done), failed: Math.round(failed) };
  }
  for (const { input, prepared: found } of inputs) {
    const own = progress[input]!;
    own.finished = prepared && found !== null && own.partsDone + own.partsFailed === own.parts;
  }
  return progress;
}

function noProgress(input: number): InputProgress {
  return {
    input,
    parts: 0,
    partsDone: 0,
    partsFailed: 0,
    partsInWork: 0,
    residues: noWork(),
    deviceSeconds: 0,
    finished: false,
  };
}

const endRow = ({ prepared }: StoredInput): number => prepared!.firstRow + prepared!.records;

function range(low: number | null | undefined, high: number | null | undefined): NormRange | null {
  return typeof low === 'number' && typeof high === 'number' ? { low, high } : null;
}

function noWork(): WorkCount {
  return { total: 0, done: 0, failed: 0 };
}

function count(work: WorkCount, state: PartState, amount: number): void {
  if (state === 'split') return;
  work.total += amount;
  if (state === 'done') work.done += amount;
  if (state === 'failed' || state === 'skipped') work.failed += amount;
}
