import type Database from 'better-sqlite3';
import { AppFailure } from '../../../../../contract/errors.ts';
import { undecidedUpTo } from '../../../../../contract/evidence.ts';
import { framesIn } from '../../../../results/sequenceTally.ts';
import type { CheckedRows } from '../../parts/checkedRows.ts';
import { readPlan } from '../../runRows.ts';
import type { SequenceResult } from '../../../../../contract/columns.ts';
import { sequenceRow } from '../../../../results/sequenceRow.ts';
import type { ProvisionalChanges } from '../../../../results/types.ts';
import { DESCRIBED, summingUp, type ScannedRecord } from './recordScan.ts';

/** A settled part or a file of records, and the state of it from which results were derived. */
interface Source {
  key: string;
  /** Changes whenever its rows change. */
  seal: string | null;
  firstRow: number;
  lastRow: number;
}

interface SettledPart extends Source {
  id: number;
}

/**
 * Derives sequence results from run.db while the run computes, part by part: for every record of which
 * anything is computed, and for those without a frame. A record across several parts is summed up again when
 * more of it is computed.
 */
export function provisionalSequences(db: Database.Database, checked: CheckedRows) {
  const recordFiles = db.prepare<[], Source>(
    `SELECT path AS key, rows_sha256 AS seal, first_row AS firstRow, first_row + count - 1 AS lastRow FROM records_file
     ORDER BY first_row`,
  );
  const settledParts = db.prepare<[], SettledPart>(
    // A damaged index would hide parts.
    `SELECT id, key, coalesce(rows_sha256, scores_sha256) AS seal, first_row AS firstRow, last_row AS lastRow FROM part NOT INDEXED
     WHERE state IN ('done', 'failed', 'skipped') ORDER BY round, number, key`,
  );
  const withoutFrame = db.prepare<[number, number], ScannedRecord>(
    `SELECT ${DESCRIBED} FROM record WHERE row BETWEEN ? AND ? AND n_frames = 0 ORDER BY row`,
  );
  const OF_PART = 'row BETWEEN ? AND ? AND part = ?';
  const masks = db
    .prepare<[number, number, number], [number, number]>(`SELECT row, frames FROM chunk WHERE ${OF_PART}`)
    .raw();
  const recordsOf = db.prepare<[number, number, number], ScannedRecord>(
    `SELECT ${DESCRIBED} FROM record WHERE row IN (SELECT DISTINCT row FROM chunk WHERE ${OF_PART}) ORDER BY row`,
  );
  const summaryOf = summingUp(db);
  const plan = readPlan(db);
  const { chunkLength, secondLook, trusted = null } = plan;
  const labels = { chunkLength, secondLook, trusted, undecidedUpTo: undecidedUpTo(plan) };
  /** The sources that everything so far was derived from. */
  const known = new Map<string, string | null>();
  /** Records across several parts that have been reported, and whether all their frames were there. */
  const spread = new Map<number, boolean>();
  /** Those of them that have more results than were reported. */
  const outdated = new Map<number, ScannedRecord>();
  let isNew = true;

  function discard(): void {
    known.clear();
    spread.clear();
    outdated.clear();
    isNew = true;
  }

  function sumUp(record: ScannedRecord): { row: SequenceResult; complete: boolean } {
    const summary = summaryOf(record);
    const complete = summary.nFrames === record.nFrames;
    return { row: sequenceRow({ record, summary, settled: complete }, labels), complete };
  }

  /** Rows that are in this part alone; the others are remembered. */
  function ofPart({ id, firstRow, lastRow }: SettledPart): SequenceResult[] {
    checked.part(id);
    const frames = new Map<number, number>();
    for (const [row, mask] of masks.all(firstRow, lastRow, id))
      frames.set(row, (frames.get(row) ?? 0) + framesIn(mask).length);
    const rows: SequenceResult[] = [];
    for (const record of recordsOf.all(firstRow, lastRow, id)) {
      if (frames.get(record.row) === record.nFrames) rows.push(sumUp(record).row);
      else if (spread.get(record.row) !== true) outdated.set(record.row, record);
    }
    return rows;
  }

  /** Derives for about this long. */
  function derive(milliseconds: number): ProvisionalChanges {
    const until = performance.now() + milliseconds;
    const files = recordFiles.all();
    const parts = settledParts.all();
    const seals = new Map([...files, ...parts].map(({ key, seal }) => [key, seal]));
    if ([...known].some(([key, seal]) => seals.get(key) !== seal)) discard();
    const restarted = isNew;
    isNew = false;
    const rows: SequenceResult[] = [];
    const replaced: number[] = [];
    let damage: AppFailure | null = null;
    const sound = (derive: () => void): void => {
      try {
        derive();
      } catch (error) {
        if (!(error instanceof AppFailure)) throw error;
        damage ??= error;
      }
    };
    const deriveNew = <Kind extends Source>(
      sources: readonly Kind[],
      of: (source: Kind) => readonly SequenceResult[],
    ): boolean => {
      for (const source of sources) {
        if (known.has(source.key)) continue;
        if (performance.now() > until) return false;
        sound(() => {
          rows.push(...of(source));
          known.set(source.key, source.seal);
        });
      }
      return true;
    };
    const all =
      deriveNew(files, ({ firstRow, lastRow }) => {
        checked.records(firstRow, lastRow);
        return withoutFrame.all(firstRow, lastRow).map((record) => sumUp(record).row);
      }) && deriveNew(parts, ofPart);
    for (const [row, record] of outdated) {
      if (performance.now() > until) break;
      sound(() => {
        const { complete, row: found } = sumUp(record);
        outdated.delete(row);
        if (spread.has(row)) replaced.push(row);
        spread.set(row, complete);
        rows.push(found);
      });
    }
    return { restarted, rows, replaced, done: all && outdated.size === 0, damage };
  }

  return { derive: db.transaction(derive), discard };
}
