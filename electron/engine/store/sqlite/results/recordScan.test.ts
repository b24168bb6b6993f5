import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { preparedRun, removeFolders } from '../../testing/storeFixture.ts';
import { recordOf } from '../../testing/syntheticRun.ts';
import { ChunkCursor } from './recordScan.ts';

afterAll(removeFolders);

it('gives every chunk the scores that were stored for it, whatever their bits, over several pages', async () => {
  const run = await preparedRun([[recordOf('a', [1])]]);
  await run.store.close();
  const db = new Database(join(run.folder, 'run.db'));
  const insert = db.prepare('INSERT INTO chunk VALUES (?, ?, 1, 63, 0, 0, NULL, ?, NULL)');
  // Any bits at all: no NaN, zero or subnormal may come out as another.
  const scores = fc.option(fc.uint8Array({ minLength: 1, maxLength: 6 }), { freq: 4, nil: null });
  const few = fc.array(scores, { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(few, fc.integer({ min: 1, max: 120 }), (blobs, repeats) => {
      const stored = Array.from({ length: blobs.length * repeats }, (_, i) => {
        const blob = blobs[i % blobs.length] ?? null;
        return blob && Buffer.from(Uint32Array.from([...blob, i], (x) => Math.imul(x, 2_654_435_761)).buffer);
      });
      db.exec('DELETE FROM chunk');
      db.transaction(() => stored.forEach((blob, i) => insert.run(i >> 2, i & 3, blob)))();
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
