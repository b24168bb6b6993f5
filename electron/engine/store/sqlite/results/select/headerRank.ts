import type Database from 'better-sqlite3';

/**
 * By number of the record its place if all were sorted by header, of their places by name (see nameRank.ts). A name is the beginning of
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
