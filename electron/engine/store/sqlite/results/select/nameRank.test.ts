import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { nameRankReader } from './nameRank.ts';

function databaseOf(names: ReadonlyMap<number, string>): Database.Database {
  const db = new Database(':memory:');
  db.exec('CREATE TABLE record (row INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT');
  const insert = db.prepare('INSERT INTO record VALUES (?, ?)');
  db.transaction(() => {
    for (const [row, name] of names) insert.run(row, name);
  })();
  return db;
}

/** Place of each row among the distinct names, as SQLite sorts them. */
function ranksBySqlite(db: Database.Database): Map<number, number> {
  const rows = db
    .prepare<[], [number, number]>(
      'SELECT row, dense_rank() OVER (ORDER BY name) - 1 FROM record ORDER BY row',
    )
    .raw();
  return new Map(rows.all());
}

function expectSame(db: Database.Database, slice: number): void {
  const reader = nameRankReader(db);
  let rank = reader.read(slice);
  while (!rank) rank = reader.read(slice);
  const expected = ranksBySqlite(db);
  expect(new Map([...expected.keys()].map((row) => [row, rank[row]]))).toEqual(expected);
}

describe('ranks of names', () => {
  it.each<[string, (row: number) => string]>([
    ['contigs of an assembler', (row) => `k141_${(row * 7919) % 10_007}`],
    ['reads with long common beginnings', (row) => `A00123:45:HXXX:1:${1101 + (row % 7)}:${row * 31}:1000`],
    ['many of the same name', (row) => `read${row % 5}`],
    ['names that continue others', (row) => 'abcdefghijklmnopqrst'.slice(0, 1 + (row % 20)).repeat(3)],
    ['other scripts, and none at all', (row) => ['', 'ä', 'z', 'é1', '宏基因组', '🦠', 'zz'][row % 7]!],
  ])('are those of SQLite for %s', (_, nameOf) => {
    const db = databaseOf(new Map(Array.from({ length: 12_000 }, (__, row) => [row, nameOf(row)])));
    expectSame(db, Infinity);
    expectSame(db, 0);
  });

  it('leave room for numbers that no record has', () => {
    expectSame(databaseOf(new Map(['d', 'b', 'c', 'a'].map((name, i) => [i * i + 3, name]))), Infinity);
    expectSame(databaseOf(new Map()), Infinity);
  });
});
