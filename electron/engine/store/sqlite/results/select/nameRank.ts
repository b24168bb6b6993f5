import type Database from 'better-sqlite3';
import { radixOrder } from './radixOrder.ts';

const ROWS_PER_READ = 16_384;
/** So many bytes make a number that is exact. */
const KEY_BYTES = 6;
/** Fewer are sorted by comparing them: a pass by their bytes costs as much for few as for many. */
const WORTH_A_PASS = 4096;

/** Names one after the other, as UTF-8; name i ends before `ends[i]`. */
interface Names {
  readonly bytes: Uint8Array;
  readonly ends: Float64Array;
}

export interface NameRankReader {
  /** Goes on for about so long. Null until all is read; then by number of the record its place if all were sorted by name, as
   * SQLite would, equal names sharing one. */
  read: (milliseconds: number) => Uint32Array | null;
}

/** SQLite takes about twice as long to sort a million names. It hands them over thousands at a time, which is much faster as well. */
export function nameRankReader(db: Database.Database): NameRankReader {
  const count = db.prepare<[], number>('SELECT count(*) FROM record').pluck().get()!;
  const rowsOfPage = 'SELECT row, name FROM record WHERE row > ? ORDER BY row LIMIT ?';
  const page = db
    .prepare<[number, number], [count: number, last: number, lengths: string, bytes: Buffer]>(
      `SELECT count(*), max(row), group_concat(octet_length(name), ' '), CAST(group_concat(name, '') AS BLOB) FROM (${rowsOfPage})`,
    )
    .raw();
  const numbers = db.prepare<[number, number], number>(`SELECT row FROM (${rowsOfPage})`).pluck();
  const rows = new Uint32Array(count);
  const ends = new Float64Array(count);
  const pages: Buffer[] = [];
  let size = 0;
  let filled = 0;
  let ranking: Generator<void, Uint32Array> | null = null;
  let rank: Uint32Array | null = null;
  function readPage(): void {
    const before = filled === 0 ? -1 : rows[filled - 1]!;
    const [found, last, lengths, bytes] = page.get(before, Math.min(ROWS_PER_READ, count - filled))!;
    if (found === 0) throw new Error('A record is gone.');
    const hasGap = last !== before + found;
    rows.set(
      hasGap ? numbers.all(before, found) : Uint32Array.from({ length: found }, (_, i) => before + 1 + i),
      filled,
    );
    pages.push(bytes);
    for (const length of lengths.split(' ')) {
      size += Number(length);
      ends[filled++] = size;
    }
  }
  return {
    read: (milliseconds) => {
      if (rank) return rank;
      const until = performance.now() + milliseconds;
      do {
        if (filled < count) {
          readPage();
          continue;
        }
        ranking ??= rankNames({ bytes: Buffer.concat(pages.splice(0), size), ends });
        const { done, value } = ranking.next();
        if (done) rank = byRow(rows, value);
      } while (!rank && performance.now() < until);
      return rank;
    },
  };
}

function byRow(rows: Uint32Array, rank: Uint32Array): Uint32Array {
  const ofRow = new Uint32Array((rows.at(-1) ?? -1) + 1);
  rows.forEach((row, i) => {
    ofRow[row] = rank[i]!;
  });
  return ofRow;
}

/** Yields where it can be interrupted for a while. */
export function* rankNames(names: Names): Generator<void, Uint32Array> {
  const { ends } = names;
  const order = Uint32Array.from(ends, (_, i) => i);
  /** Whether the name at each place is the one before it once more. */
  const isSame = new Uint8Array(order.length);
  // Of the names in each range the first `depth` bytes are the same.
  const left = [{ begin: 0, end: order.length, depth: 0 }];
  for (let range = left.pop(); range; range = left.pop()) {
    const { begin, end } = range;
    const among = order.subarray(begin, end);
    if (among.length < WORTH_A_PASS) {
      among.sort((a, b) => compareNames(names, a, b, range.depth));
      for (let i = 1; i < among.length; i++)
        if (compareNames(names, among[i - 1]!, among[i]!, range.depth) === 0) isSame[begin + i] = 1;
      continue;
    }
    const depth = commonDepth(names, among, range.depth);
    const keys = new Float64Array(among.length);
    for (let i = 0; i < keys.length; i++) keys[i] = keyOf(names, among[i]!, depth);
    yield;
    const places = radixOrder(keys, false);
    yield;
    among.set(places.map((place) => among[place]!));
    for (let i = 0; i < places.length;) {
      const key = keys[places[i]!]!;
      const first = i;
      while (i < places.length && keys[places[i]!] === key) i += 1;
      if (i === first + 1) continue;
      const deeper = depth + KEY_BYTES;
      if (among.subarray(first, i).some((name) => lengthOf(names, name) > deeper))
        left.push({ begin: begin + first, end: begin + i, depth: deeper });
      else isSame.fill(1, begin + first + 1, begin + i);
    }
  }
  yield;
  const rank = new Uint32Array(order.length);
  let place = 0;
  for (let i = 0; i < order.length; i++) {
    if (i > 0 && isSame[i] === 0) place += 1;
    rank[order[i]!] = place;
  }
  return rank;
}

const beginOf = ({ ends }: Names, name: number): number => (name === 0 ? 0 : ends[name - 1]!);
const lengthOf = (names: Names, name: number): number => names.ends[name]! - beginOf(names, name);

/** The bytes behind the first `depth` as one number; 0 for each that is not there. */
function keyOf(names: Names, name: number, depth: number): number {
  const end = names.ends[name]!;
  let key = 0;
  const from = beginOf(names, name) + depth;
  for (let at = from; at < from + KEY_BYTES; at++) key = key * 256 + (at < end ? names.bytes[at]! : 0);
  return key;
}

function compareNames(names: Names, a: number, b: number, depth: number): number {
  const { bytes } = names;
  const beginA = beginOf(names, a);
  const beginB = beginOf(names, b);
  const lengthA = lengthOf(names, a);
  const lengthB = lengthOf(names, b);
  const shorter = Math.min(lengthA, lengthB);
  for (let i = depth; i < shorter; i++) {
    const difference = bytes[beginA + i]! - bytes[beginB + i]!;
    if (difference !== 0) return difference;
  }
  return lengthA - lengthB;
}

/** How many bytes all of these names have in common, if it is known of the first `depth`. */
function commonDepth(names: Names, among: Uint32Array, depth: number): number {
  const { bytes } = names;
  const first = among[0]!;
  const begin = beginOf(names, first);
  let common = lengthOf(names, first);
  for (const name of among) {
    const own = beginOf(names, name);
    const most = Math.min(common, lengthOf(names, name));
    let same = depth;
    while (same < most && bytes[own + same] === bytes[begin + same]) same += 1;
    common = same;
    if (common <= depth) return depth;
  }
  return common;
}

/**
 * By number of the record its place if all were sorted by header, of their places by name. A name is the beginning of
 * its header, so only those of the same name are left to compare.
 */
export function rankHeaders(db: Database.Database, nameRank: Uint32Array): Uint32Array {
  const header = db.prepare<[number], string | null>('SELECT header FROM record WHERE row = ?').pluck();
  const names = nameRank.reduce((most, name) => Math.max(most, name), 0) + 1;
  const ofName = new Uint32Array(names);
  for (const name of nameRank) ofName[name]! += 1;
  const begins = new Uint32Array(names);
  for (let name = 1; name < names; name++) begins[name] = begins[name - 1]! + ofName[name - 1]!;
  const sameName = new Map<number, { row: number; text: Buffer }[]>();
  const rank = nameRank.map((name, row) => {
    if (ofName[name]! > 1) {
      const same = sameName.get(name) ?? [];
      same.push({ row, text: Buffer.from(header.get(row) ?? '') });
      sameName.set(name, same);
    }
    return begins[name]!;
  });
  for (const [name, same] of sameName) {
    same.sort((a, b) => a.text.compare(b.text));
    let place = begins[name]!;
    for (const [i, { row, text }] of same.entries()) {
      if (i > 0 && !text.equals(same[i - 1]!.text)) place += 1;
      rank[row] = place;
    }
  }
  return rank;
}
