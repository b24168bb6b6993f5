import type Database from 'better-sqlite3';
import {
  addSequence,
  emptyStratum,
  estimateShare,
  SIZE_CLASSES,
  sizeClass,
  STRETCHES,
  type Stratum,
  type CurvePoint,
  type ViralSoFar,
} from '../../../../results/estimates/viralShare.ts';
import type { StoredInput } from '../../../types.ts';
import { readInputs, readPlan, readRun } from '../../runRows.ts';

interface SettledPart {
  id: number;
  round: number;
  firstRow: number;
  lastRow: number;
  seal: string | null;
}

interface RoundPart {
  id: number;
  round: number;
  isDone: 0 | 1;
  firstRow: number;
  lastRow: number;
}

/** A part's counts by stratum: computed chunks, scored ones, viral ones, squares and degrees of freedom. */
type PartTally = Map<number, [done: number, scored: number, viral: number, squares: number, freedom: number]>;

type ReadInput = StoredInput & { prepared: NonNullable<StoredInput['prepared']> };

const STRATA_PER_INPUT = STRETCHES * SIZE_CLASSES.length;
const CURVE_POINTS = 100;

/**
 * The known viral share of each input while a run grows. Each part's chunks are counted once, and again only
 * if its rows change; inputs count only once they were read completely and all their records are stored, as
 * the others have no known size.
 */
export function viralSoFarMethods(db: Database.Database) {
  const settledParts = db.prepare<[], SettledPart>(
    // In the order in which they were computed.
    `SELECT id, round, first_row AS firstRow, last_row AS lastRow, coalesce(rows_sha256, scores_sha256) AS seal FROM part
     LEFT JOIN (SELECT part, max(attempt) AS last FROM attempt GROUP BY part) ON part = key
     WHERE state IN ('done', 'failed', 'skipped') ORDER BY last, number, key`,
  );
  const allParts = db.prepare<[], RoundPart>(
    `SELECT id, round, state = 'done' AS isDone, first_row AS firstRow, last_row AS lastRow FROM part
     WHERE state <> 'split' ORDER BY round, first_row, last_row`,
  );
  const lastRecord = db.prepare<[], number | null>('SELECT max(row) FROM record').pluck();
  const sizes = db
    .prepare<[number, number], [row: number, chunks: number, open: number]>(
      'SELECT row, n_chunks, n_chunks - n_lost FROM record WHERE row BETWEEN ? AND ? AND n_frames > 0 ORDER BY row',
    )
    .raw();
  const calls = db
    .prepare<[number, number], [row: number, chunks: number, part: number, isVirus: number | null]>(
      `SELECT chunk.row, n_chunks, part, is_virus FROM chunk JOIN record ON record.row = chunk.row
       WHERE chunk.row BETWEEN ? AND ? ORDER BY chunk.row`,
    )
    .raw();
  const isSample = readPlan(db).order === 'sample';
  /** The work to compute, by input. */
  const found = new Map<number, Map<number, Stratum>>();
  const tallies = new Map<number, { seal: string | null; tally: PartTally }>();

  function forget(): void {
    found.clear();
    tallies.clear();
  }

  function stratumOf({ input, prepared }: ReadInput, row: number, chunks: number): number {
    const stretch = Math.floor(((row - prepared.firstRow) * STRETCHES) / prepared.records);
    return input * STRATA_PER_INPUT + stretch * SIZE_CLASSES.length + sizeClass(chunks);
  }

  function measure(input: ReadInput): Map<number, Stratum> {
    const { firstRow, records } = input.prepared;
    const strata = new Map<number, Stratum>();
    for (const [row, chunks, open] of sizes.iterate(firstRow, firstRow + records - 1)) {
      const key = stratumOf(input, row, chunks);
      const stratum = strata.get(key) ?? emptyStratum(sizeClass(chunks));
      strata.set(key, stratum);
      addSequence(stratum, chunks, open);
    }
    return strata;
  }

  /** Counts these parts in one pass over the rows that they span. */
  function count(parts: readonly SettledPart[], inputs: readonly ReadInput[]): void {
    const wanted = new Map<number, PartTally>(parts.map(({ id }) => [id, new Map()]));
    const ofRow = new Map<number, { scored: number; viral: number }>();
    let current = { row: -1, key: -1 };
    const finishRow = (): void => {
      for (const [part, { scored, viral }] of ofRow) {
        const sums = wanted.get(part)?.get(current.key);
        if (!sums || scored < 2) continue;
        sums[3] += (viral * (scored - viral)) / scored;
        sums[4] += scored - 1;
      }
      ofRow.clear();
    };
    let place = 0;
    for (const { from, to } of spans(parts))
      for (const [row, chunks, part, isVirus] of calls.iterate(from, to)) {
        const tally = wanted.get(part);
        if (!tally) continue;
        if (row !== current.row) {
          finishRow();
          while (row >= inputs[place]!.prepared.firstRow + inputs[place]!.prepared.records) place += 1;
          current = { row, key: stratumOf(inputs[place]!, row, chunks) };
        }
        const sums = tally.get(current.key) ?? [0, 0, 0, 0, 0];
        tally.set(current.key, sums);
        sums[0] += 1;
        if (isVirus === null) continue;
        sums[1] += 1;
        sums[2] += isVirus;
        const own = ofRow.get(part) ?? { scored: 0, viral: 0 };
        ofRow.set(part, { scored: own.scored + 1, viral: own.viral + isVirus });
      }
    finishRow();
    for (const { id, seal } of parts) tallies.set(id, { seal, tally: wanted.get(id)! });
  }

  function recount(): ViralSoFar {
    const stored = readInputs(db);
    const storedUntil = lastRecord.get() ?? -1;
    const isStored = ({ firstRow, records }: ReadInput['prepared']): boolean =>
      firstRow + records - 1 <= storedUntil;
    const inputs = stored.filter(
      (input): input is ReadInput =>
        input.prepared !== null && input.prepared.records > 0 && isStored(input.prepared),
    );
    for (const input of inputs) if (!found.has(input.input)) found.set(input.input, measure(input));
    const rowsRead = Math.max(0, ...inputs.map(({ prepared }) => prepared.firstRow + prepared.records));
    const parts = settledParts.all().filter(({ lastRow }) => lastRow < rowsRead);
    const seals = new Map(parts.map(({ id, seal }) => [id, seal]));
    for (const [id, { seal }] of tallies) if (!seals.has(id) || seals.get(id) !== seal) tallies.delete(id);
    count(
      parts.filter(({ id }) => !tallies.has(id)),
      inputs,
    );
    const strata = new Map<number, Stratum>();
    for (const own of found.values()) for (const [key, stratum] of own) strata.set(key, { ...stratum });
    const curve: CurvePoint[] = [];
    const open = [...strata.values()].reduce((sum, stratum) => sum + stratum.open, 0);
    const firstRound = isSample
      ? sampledSince(allParts.all(), new Map(parts.map(({ id }, turn) => [id, turn])), {
          isAllCut: readRun(db).prepared !== null,
        })
      : [];
    const cutUntil = readRun(db).prepared === null ? (firstRound.at(-1)?.lastRow ?? -1) : Infinity;
    const isSampled = ({ prepared, failure }: StoredInput): boolean => {
      if (prepared === null || !isStored(prepared)) return failure !== null;
      const last = prepared.firstRow + prepared.records - 1;
      return (
        last <= cutUntil &&
        !firstRound.some(
          ({ since, firstRow, lastRow }) =>
            since === Infinity && lastRow >= prepared.firstRow && firstRow <= last,
        )
      );
    };
    const isWholeSampled = stored.every(isSampled);
    const curveFrom = Math.max(...firstRound.map(({ since }) => since));
    let done = 0;
    let nextPoint = 0;
    for (const [place, { id }] of parts.entries()) {
      for (const [key, sums] of tallies.get(id)?.tally ?? []) {
        const stratum = strata.get(key);
        if (!stratum) continue;
        done += sums[0];
        // Chunks that failed or were left out get no call in the finished run, unless they are retried.
        stratum.open -= sums[0] - sums[1];
        stratum.done += sums[1];
        stratum.scored += sums[1];
        stratum.viral += sums[2];
        stratum.squares += sums[3];
        stratum.freedom += sums[4];
      }
      if (!isSample || !isWholeSampled || place < curveFrom) continue;
      if (done < nextPoint && place < parts.length - 1) continue;
      const estimate = estimateShare([...strata.values()]);
      if (estimate === null) continue;
      curve.push({ fraction: done / open, ...estimate });
      nextPoint = done + open / CURVE_POINTS;
    }
    const byInput = Map.groupBy(strata, ([key]) => Math.floor(key / STRATA_PER_INPUT));
    return {
      isSample,
      inputs: stored.map((one) => {
        const own = (byInput.get(one.input) ?? []).map(([, stratum]) => stratum);
        const isWhole =
          one.prepared !== null &&
          isStored(one.prepared) &&
          own.every(({ done: known, open: all }) => known >= all);
        return { isSampled: isWhole || isSampled(one), strata: own };
      }),
      curve,
    };
  }

  function viralSoFar(): ViralSoFar {
    try {
      return recount();
    } catch (error) {
      // A partial count must not remain.
      forget();
      throw error;
    }
  }

  return { viralSoFar: db.transaction(viralSoFar) };
}

/**
 * For each part of the first round, since which turn its rows are sampled: since it was computed, or since
 * all parts of a later round that hold chunks of the same rows were. So a part that fails, is left out or is
 * retried takes nothing from what a later round knows. `turns` are those of settled parts; `parts` are in the
 * order of their rounds and rows.
 */
function sampledSince(
  parts: readonly RoundPart[],
  turns: ReadonlyMap<number, number>,
  { isAllCut }: { isAllCut: boolean },
) {
  const turnOf = ({ id, isDone }: RoundPart): number => (isDone ? (turns.get(id) ?? 0) : Infinity);
  const rounds = [...Map.groupBy(parts, ({ round }) => round).values()];
  const [first = [], ...later] = rounds;
  const begins = later.map(() => 0);
  return first.map((part) => {
    const { firstRow, lastRow } = part;
    const sinces = later.map((own, round) => {
      while ((own[begins[round]!]?.lastRow ?? Infinity) < firstRow) begins[round]! += 1;
      let since = -Infinity;
      let place = begins[round]!;
      for (; place < own.length && own[place]!.firstRow <= lastRow; place++)
        since = Math.max(since, turnOf(own[place]!));
      const isCut = isAllCut || place < own.length;
      return isCut && since >= 0 ? since : Infinity;
    });
    return { firstRow, lastRow, since: Math.min(turnOf(part), ...sinces) };
  });
}

/** The row ranges of parts without the gaps between them; both ends included. */
function spans(parts: readonly SettledPart[]): { from: number; to: number }[] {
  const merged: { from: number; to: number }[] = [];
  for (const { firstRow, lastRow } of parts.toSorted((a, b) => a.firstRow - b.firstRow)) {
    const last = merged.at(-1);
    if (last && firstRow <= last.to) last.to = Math.max(last.to, lastRow);
    else merged.push({ from: firstRow, to: lastRow });
  }
  return merged;
}
