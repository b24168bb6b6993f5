import type { Agreement } from '../../../../../contract/otherTools.ts';
import type { SequenceFilter } from '../../../../../contract/rpc/results.ts';
import { EVIDENCE_RANK } from '../evidenceRank.ts';
import { REASONS, type LateColumn } from './lateColumns.ts';
import { PREDICTIONS, type ResultColumns } from '../resultColumns.ts';

/** Which sequences a user wants to see; `rows` instead of a filter where they were picked one by one. */
export interface SequenceSelection {
  filter: SequenceFilter;
  rows?: readonly number[] | undefined;
  /** What another tool takes for a virus, where the filter compares with it. */
  theirs?: readonly number[] | undefined;
  /** What its table names at all. */
  named?: readonly number[] | undefined;
  /** Those with a note, where the filter asks for them. */
  noted?: readonly number[] | undefined;
}

/** Indices of the sequences that pass the filter, ascending. `found` are the numbers of the records that have the text sought. */
export function selectSequences(
  columns: ResultColumns,
  { filter, rows, theirs, named, noted }: SequenceSelection,
  found: (text: string) => Uint32Array,
  late: (name: LateColumn) => Float64Array,
): Uint32Array {
  const { minScore, minLength, maxLength, minScoredChunks } = filter;
  const { minFramesScored, minViralFraction, minSecondScore } = filter;
  const conditions: ((index: number) => boolean)[] = [];
  const isAmong = (wanted: Iterable<number>): ((index: number) => boolean) => {
    const isWanted = new Uint8Array((columns.row.at(-1) ?? -1) + 1);
    for (const row of wanted) isWanted[row] = 1;
    return (index) => isWanted[columns.row[index]!] === 1;
  };
  if (rows) conditions.push(isAmong(rows));
  if (filter.noted) conditions.push(isAmong(noted ?? []));
  if (filter.input !== undefined) {
    const { input } = filter;
    conditions.push((index) => columns.input[index] === input);
  }
  if (filter.inputs) {
    const wanted = new Set(filter.inputs);
    conditions.push((index) => wanted.has(columns.input[index]!));
  }
  if (filter.predictions) {
    const { predictions } = filter;
    const isWanted = PREDICTIONS.map((name) => predictions.includes(name));
    conditions.push((index) => isWanted[columns.prediction[index]!]!);
  }
  // Nothing compares with NaN, so what has no score has none of at least 0 either.
  if (minScore !== undefined) conditions.push((index) => columns.virusScore[index]! >= minScore);
  if (minLength !== undefined) conditions.push((index) => columns.length[index]! >= minLength);
  if (maxLength !== undefined) conditions.push((index) => columns.length[index]! <= maxLength);
  if (minScoredChunks !== undefined)
    conditions.push((index) => columns.nChunksScored[index]! >= minScoredChunks);
  if (minFramesScored !== undefined) {
    const frames = late('nFramesScored');
    conditions.push((index) => frames[index]! >= minFramesScored);
  }
  if (minViralFraction !== undefined)
    conditions.push(
      (index) => columns.nChunksViral[index]! / columns.nChunksScored[index]! >= minViralFraction,
    );
  if (minSecondScore !== undefined) {
    const second = late('secondScore');
    conditions.push((index) => second[index]! >= minSecondScore);
  }
  if (filter.reasons) {
    const wanted = new Set(filter.reasons);
    const isWanted = REASONS.map((name) => wanted.has(name));
    const codes = late('reason');
    conditions.push((index) => isWanted[codes[index]!] ?? wanted.has('ok'));
  }
  if (filter.evidence) {
    const wanted = new Set(filter.evidence.map((level) => EVIDENCE_RANK[level]));
    conditions.push((index) => wanted.has(columns.evidence[index]!));
  }
  if (filter.search) conditions.push(isAmong(found(filter.search)));
  if (filter.other) {
    const isOurs = (index: number): boolean => PREDICTIONS[columns.prediction[index]!] === 'virus';
    const isTheirs = isAmong(theirs ?? []);
    const isNamed = isAmong(named ?? []);
    const agreements: Record<Agreement, (index: number) => boolean> = {
      both: (index) => isOurs(index) && isTheirs(index),
      only_ours: (index) => isOurs(index) && isNamed(index) && !isTheirs(index),
      only_theirs: (index) => isTheirs(index) && !isOurs(index),
      not_in_table: (index) => !isNamed(index),
    };
    conditions.push(agreements[filter.other.agreement]);
  }

  const selected = new Uint32Array(columns.count);
  let count = 0;
  for (let index = 0; index < columns.count; index++)
    if (conditions.every((holds) => holds(index))) selected[count++] = index;
  return selected.slice(0, count);
}
