import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { migrate } from './database.ts';
import { openRunReader } from './runDatabase.ts';
import { insertRun } from './runRows.ts';
import { RUN_DATABASE } from './runSchema.ts';
import { newFolder, removeFolders } from '../testing/storeFixture.ts';
import { DESCRIPTION, syntheticPlan } from '../testing/syntheticRun.ts';

afterAll(removeFolders);

/** A run.db of the version before frames that share a pass of an encoder were counted, with one part that is done. */
function oldRun(): string {
  const folder = newFolder();
  const db = new Database(join(folder, 'run.db'));
  migrate(db, { ...RUN_DATABASE, migrations: RUN_DATABASE.migrations.slice(0, 1) });
  // The first event is stored by today's statement, which knows a column more.
  db.exec('ALTER TABLE event ADD COLUMN wording TEXT');
  insertRun(db, syntheticPlan(1), DESCRIPTION);
  db.exec('ALTER TABLE event DROP COLUMN wording');
  db.exec(`DROP TRIGGER plan_never_changes;
    UPDATE plan SET plan = json_remove(plan, '$.embedEqualSequencesOnce')`);
  db.exec(
    `UPDATE plan SET plan = replace(replace(plan, 'residuesPerPart', 'residuesPerShard'), 'tailParts', 'tailShards')`,
  );
  db.exec(/CREATE TRIGGER[^]*?END;/.exec(RUN_DATABASE.migrations[0]!)![0]);
  db.exec(`INSERT INTO shard (key, number, path, sha256, frame_begin, frame_end, frames, residues, chunks, first_row,
    last_row, state) VALUES ('000000', 0, 'work/shards/000000.safetensors', '${'0'.repeat(64)}', 0, 7, 7, 300, 2, 0, 1, 'done')`);
  db.close();
  return folder;
}

describe('a run.db of an earlier version', () => {
  it('is read as it is, with nothing counted that was not counted then', () => {
    const run = openRunReader(oldRun()).loadRun();
    expect(run.counts).toMatchObject({ repeatedProteins: 0, repeatedNucleotides: 0, frames: { done: 7 } });
    // Its frames were computed one by one, and must be if it goes on.
    expect(run.plan.embedEqualSequencesOnce).toBe(false);
  });

  it('has no part that failed for the norms of its embeddings, which is no failure any more', () => {
    const folder = oldRun();
    const change = new Database(join(folder, 'run.db'));
    change.exec(`UPDATE shard SET state = 'failed', failure_code = 'norm_out_of_band'`);
    change.close();
    const failure = { code: 'internal_error' };
    expect(openRunReader(folder).partsIn('failed')).toMatchObject([{ failure }]);
    const db = new Database(join(folder, 'run.db'));
    migrate(db, RUN_DATABASE);
    db.close();
    const reader = openRunReader(folder);
    expect(reader.partsIn('failed')).toMatchObject([{ failure }]);
    expect(reader.counts()).toMatchObject({ outsideNormBand: 0, norms: { esm2: null, dnabertS: null } });
  });

  it('is brought up to date where it is written to', () => {
    const folder = oldRun();
    const db = new Database(join(folder, 'run.db'));
    migrate(db, RUN_DATABASE);
    db.exec('UPDATE part SET repeated_proteins = 3, repeated_nucleotides = 1');
    db.close();
    const counts = openRunReader(folder).counts();
    expect(counts).toMatchObject({ repeatedProteins: 3, repeatedNucleotides: 1 });
  });
});
