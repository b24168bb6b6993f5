import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { preparedRun } from '../../../testing/storeFixture.ts';
import { recordOf } from '../../../testing/syntheticRun.ts';
import { ChunkCursor } from './recordScan.ts';
it('gives every chunk exactly the scores that were stored for it, across several pages', async () => {
  const run = await preparedRun([[recordOf('a', [1])]]);
  await run.store.close();
  const db = new Database(join(run.folder, 'run.db'));
  const insert = db.prepare('INSERT INTO chunk VALUES (?, ?, 1, ?, ?, 0, NULL, ?, ?)');
  // Zeros and subnormals must keep their bits.
  const score = fc.float({ min: 0, max: 1, noNaN: true });
  const scores = fc.option(fc.array(fc.tuple(score, score), { minLength: 1, maxLength: 6 }), {
    freq: 4,
    nil: null,
  });
  const few = fc.array(scores, { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(few, fc.integer({ min: 1, max: 120 }), (blobs, repeats) => {
      const stored = Array.from({ length: blobs.length * repeats }, (_, i) => {
        const blob = blobs[i % blobs.length] ?? null;
        return blob && Buffer.from(Float32Array.from(blob.flat()).buffer);
      });
      db.exec('DELETE FROM chunk');
      db.transaction(() =>
        stored.forEach((blob, i) => {
          const mask = blob ? (1 << (blob.length / 8)) - 1 : 1;
          insert.run(i >> 2, i & 3, mask, blob ? 0 : mask, blob, blob ? null : 'non_finite');
        }),
      )();
      const cursor = new ChunkCursor(db);
      stored.forEach((blob, i) => {
        const { row, chunk, pairs } = cursor.current!;
        expect([row, chunk]).toEqual([i >> 2, i & 3]);
        const bytes = Buffer.from(pairs.buffer, pairs.byteOffset, pairs.byteLength);
        expect(bytes.equals(blob ?? Buffer.alloc(0))).toBe(true);
        cursor.advance();
      });
      expect(cursor.current).toBeNull();
    }),
    { numRuns: 30 },
  );
  db.close();
});
