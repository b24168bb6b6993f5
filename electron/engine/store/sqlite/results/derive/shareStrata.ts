import type Database from 'better-sqlite3';
import {
  addCalls,
  addCounts,
  addSequence,
  type Counts,
  emptyStratum,
  newCounts,
  SIZE_CLASSES,
  sizeClass,
  SECTIONS,
  type Spread,
  type Stratum,
  type ShareStrata,
} from '../../../../results/estimates/viralShare.ts';
import type { StoredInput } from '../../../types.ts';
import type { CheckedRows } from '../../parts/checkedRows.ts';
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

/** A part's counts by stratum; `done` includes chunks without a score. */
type PartTally = Map<number, Counts & Spread & { done: number }>;

type ReadInput = StoredInput & { prepared: NonNullable<StoredInput['prepared']> };

const STRATA_PER_INPUT = SECTIONS * SIZE_CLASSES.length;

/**
 * The known viral share of each input while a run grows. Each part's chunks are counted once, and again only
 * if its rows change; inputs count only once they were read completely and all their records are stored, as
 * the others have no known size.
 */
export function shareStrataMethods(db: Database.Database, checked: CheckedRows) {
  const settledParts = db.prepare<[], SettledPart>(
    // In the order in which they were computed.
    `SELECT id, round, first_row AS firstRow, last_row AS lastRow, coalesce(rows_sha256, scores_sha256) AS seal FROM part NOT INDEXED
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

  function stratumOf(input: ReadInput, row: number, chunks: number): number {
    return input.input * STRATA_PER_INPUT + sectionOf(input, row) * SIZE_CLASSES.length + sizeClass(chunks);
  }

  function measure(input: ReadInput): Map<number, Stratum> {
    const { firstRow, records } = input.prepared;
    checked.records(firstRow, firstRow + records - 1);
    const strata = new Map<number, Stratum>();
    for (const [row, chunks, open] of sizes.iterate(firstRow, firstRow + records - 1)) {
      const key = stratumOf(input, row, chunks);
      const stratum = strata.get(key) ?? emptyStratum(sizeClass(chunks));
      strata.set(key, stratum);
      addSequence(stratum, chunks, open);
    }
    return strata;
  }

  /** Counts these parts in one pass over the rows that they span; `turns` are those of all settled parts. */
  function count(
    parts: readonly SettledPart[],
    turns: ReadonlyMap<number, number>,
    inputs: readonly ReadInput[],
  ): void {
    for (const { id } of parts) checked.part(id);
    const wanted = new Map<number, PartTally>(parts.map(({ id }) => [id, new Map()]));
    /** A sequence's calls by the turn of their part. */
    const ofRow = new Map<number, Counts & { part: number }>();
    let current = { row: -1, key: -1 };
    const finishRow = (): void => {
      const before = { scored: 0, viral: 0 };
      for (const [, { part, ...own }] of [...ofRow].sort(([a], [b]) => a - b)) {
        const counts = wanted.get(part)?.get(current.key);
        if (counts) addCalls(counts, before, own);
        addCounts(before, own);
      }
      ofRow.clear();
    };
    let place = 0;
    for (const { from, to } of spans(parts))
      for (const [row, chunks, part, isVirus] of calls.iterate(from, to)) {
        const turn = turns.get(part);
        if (turn === undefined) continue;
        if (row !== current.row) {
          finishRow();
          while (row > lastRowOf(inputs[place]!)) place += 1;
          current = { row, key: stratumOf(inputs[place]!, row, chunks) };
        }
        const call = { scored: isVirus === null ? 0 : 1, viral: isVirus ?? 0 };
        const tally = wanted.get(part);
        if (tally) {
          const counts = tally.get(current.key) ?? { done: 0, scored: 0, viral: 0, squares: 0, freedom: 0 };
          tally.set(current.key, counts);
          counts.done += 1;
          addCounts(counts, call);
        }
        if (chunks === 1 || isVirus === null) continue;
        const own = ofRow.get(turn) ?? { part, scored: 0, viral: 0 };
        ofRow.set(turn, own);
        addCounts(own, call);
      }
    finishRow();
    for (const { id, seal } of parts) tallies.set(id, { seal, tally: wanted.get(id)! });
  }

  function recount(): ShareStrata {
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
    const turns = new Map(parts.map(({ id }, turn) => [id, turn]));
    count(
      parts.filter(({ id }) => !tallies.has(id)),
      turns,
      inputs,
    );
    const strata = new Map<number, Stratum>();
    for (const own of found.values())
      for (const [key, stratum] of own) strata.set(key, { ...stratum, ...newCounts() });
    const isAllCut = readRun(db).prepared !== null;
    const ofRounds = isSample ? allParts.all() : [];
    const firstRound = sampledRows(ofRounds, { isAllCut });
    const cutUntil = isAllCut ? Infinity : (firstRound.at(-1)?.lastRow ?? -1);
    const completed = completedRounds(ofRounds, turns, inputs, { isAllCut });
    /** By stratum and round. */
    const ofRound = new Map<number, Map<number, Counts>>();
    const isSampled = ({ prepared, failure }: StoredInput): boolean => {
      if (prepared === null || !isStored(prepared)) return failure !== null;
      if (!isSample) return false;
      const last = prepared.firstRow + prepared.records - 1;
      return (
        last <= cutUntil &&
        !firstRound.some(
          ({ isSampled, firstRow, lastRow }) =>
            !isSampled && lastRow >= prepared.firstRow && firstRow <= last,
        )
      );
    };
    for (const { id, round } of parts)
      for (const [key, counts] of tallies.get(id)?.tally ?? []) {
        const stratum = strata.get(key);
        if (!stratum) continue;
        // Chunks that failed or were left out get no call in the finished run, unless they are retried.
        stratum.open -= counts.done - counts.scored;
        addCounts(stratum.known, counts);
        stratum.squares += counts.squares;
        stratum.freedom += counts.freedom;
        const rounds = ofRound.get(key) ?? new Map<number, Counts>();
        ofRound.set(key, rounds);
        const own = rounds.get(round) ?? { scored: 0, viral: 0 };
        rounds.set(round, own);
        addCounts(own, counts);
      }
    for (const { section, round } of completed)
      for (const key of SIZE_CLASSES.map((_, size) => section * SIZE_CLASSES.length + size)) {
        const counts = ofRound.get(key)?.get(round);
        if (counts) addCounts(strata.get(key)!.even, counts);
      }
    const byInput = Map.groupBy(strata, ([key]) => Math.floor(key / STRATA_PER_INPUT));
    return {
      isSample,
      inputs: stored.map((one) => {
        const own = (byInput.get(one.input) ?? []).map(([, stratum]) => stratum);
        const isWhole =
          one.prepared !== null &&
          isStored(one.prepared) &&
          own.every(({ known, open: all }) => known.scored >= all);
        return { isSampled: isWhole || isSampled(one), strata: own };
      }),
    };
  }

  function shareStrata(): ShareStrata {
    try {
      return recount();
    } catch (error) {
      // A partial count must not remain.
      forget();
      throw error;
    }
  }

  return { shareStrata: db.transaction(shareStrata) };
}

/**
 * For each part of the first round, whether its rows are sampled: it was computed, or all parts of a later round
 * that hold chunks of the same rows were. So a part that fails, is left out or is retried takes nothing from
 * what a later round knows. `parts` are in the order of their rounds and rows.
 */
function sampledRows(parts: readonly RoundPart[], { isAllCut }: { isAllCut: boolean }) {
  const rounds = [...Map.groupBy(parts, ({ round }) => round).values()];
  const [first = [], ...later] = rounds;
  const begins = later.map(() => 0);
  return first.map(({ firstRow, lastRow, isDone }) => {
    const isInLater = later.map((own, round) => {
      while ((own[begins[round]!]?.lastRow ?? Infinity) < firstRow) begins[round]! += 1;
      const begin = begins[round]!;
      let place = begin;
      while (place < own.length && own[place]!.firstRow <= lastRow) place += 1;
      const isCut = isAllCut || place < own.length;
      return isCut && place > begin && own.slice(begin, place).every((part) => part.isDone);
    });
    return { firstRow, lastRow, isSampled: Boolean(isDone) || isInLater.includes(true) };
  });
}

/**
 * The rounds of sections, numbered over all inputs, that are complete: all parts that hold chunks of them are
 * done and among the `known` ones. `parts` are in the order of their rounds and rows.
 */
function completedRounds(
  parts: readonly RoundPart[],
  known: ReadonlyMap<number, unknown>,
  inputs: readonly ReadInput[],
  { isAllCut }: { isAllCut: boolean },
): { section: number; round: number }[] {
  return [...Map.groupBy(parts, (part) => part.round)].flatMap(([round, own]) => {
    const cut = own.map(({ id, isDone, firstRow, lastRow }) => ({
      firstRow,
      lastRow,
      isKnown: Boolean(isDone) && known.has(id),
    }));
    const uncut = { firstRow: own.at(-1)!.lastRow + 1, lastRow: Infinity, isKnown: false };
    const isComplete = new Map<number, boolean>();
    let begin = 0;
    for (const { firstRow, lastRow, isKnown } of isAllCut ? cut : [...cut, uncut]) {
      while (begin < inputs.length && lastRowOf(inputs[begin]!) < firstRow) begin += 1;
      for (let place = begin; place < inputs.length && inputs[place]!.prepared.firstRow <= lastRow; place++) {
        const input = inputs[place]!;
        const end = sectionOf(input, Math.min(lastRow, lastRowOf(input)));
        let section = sectionOf(input, Math.max(firstRow, input.prepared.firstRow));
        for (; section <= end; section++) {
          const key = input.input * SECTIONS + section;
          isComplete.set(key, (isComplete.get(key) ?? true) && isKnown);
        }
      }
    }
    return [...isComplete].filter(([, complete]) => complete).map(([section]) => ({ section, round }));
  });
}

const lastRowOf = ({ prepared }: ReadInput): number => prepared.firstRow + prepared.records - 1;

function sectionOf({ prepared }: ReadInput, row: number): number {
  return Math.floor(((row - prepared.firstRow) * SECTIONS) / prepared.records);
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
