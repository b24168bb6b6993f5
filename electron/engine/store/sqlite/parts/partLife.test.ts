import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import BetterSqlite from 'better-sqlite3';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { float32Text } from '../../../results/cellText.ts';
import { isVirusFrame } from '../../../results/sequenceTally.ts';
import { openRunWriter, type RunMethods } from '../../runDatabase.ts';
import { begin, reportPrepare, scoreOf, scoresFor } from '../../testing/storeFixture.ts';
import {
  DESCRIPTION,
  recordOf,
  syntheticPlan,
  writePrepared,
  type FrameRef,
  type SyntheticPrepare,
} from '../../testing/syntheticRun.ts';
import { allOf } from '../../storeThread.ts';
import type { StoredPart } from '../../types.ts';
import { temporaryFolder } from '../../../testing/temporaryFolder.ts';
const FRAME_NAMES = ['F1', 'F2', 'F3', 'R1', 'R2', 'R3'];

/** Any event of a part, in any order; `at` picks one of the parts that it can happen to. */
const steps = fc.array(
  fc.record({
    what: fc.constantFrom(
      'assign',
      'complete',
      'damage',
      'lose',
      'recall',
      'fail',
      'split',
      'skip',
      'retry',
      'crash',
      'prepare',
    ),
    at: fc.nat(1000),
  }),
  { maxLength: 60 },
);

class World {
  readonly folder = join(temporaryFolder(), 'run');
  readonly prepared: SyntheticPrepare;
  store: RunMethods;
  readonly attempts = new Map<string, number>();

  constructor(masks: number[][], framesPerPart: number) {
    mkdirSync(this.folder);
    const records = masks.map((openFrames, i) => recordOf(`r${i} text`, openFrames));
    this.prepared = writePrepared(this.folder, [records], { framesPerPart });
    const create = { plan: syntheticPlan(1), description: DESCRIPTION };
    this.store = allOf(openRunWriter(this.folder, create).groups);
  }

  /** Prepare's reports, which change nothing if they are repeated. */
  async prepare(answer: 'new' | 'known'): Promise<void> {
    const answers = await reportPrepare(this.store, this.prepared);
    expect(new Set(answers)).toEqual(new Set([answer]));
  }

  /** Applies one event, if there is a part it can happen to. */
  async happen(what: string, at: number): Promise<void> {
    const pick = (...states: StoredPart['state'][]): string | undefined => {
      const parts = states.flatMap((state) => this.store.partsIn(state));
      return parts[at % Math.max(1, parts.length)]?.key;
    };
    if (what === 'crash') {
      void this.store.close();
      this.store = allOf(openRunWriter(this.folder, null).groups);
      this.attempts.clear();
    } else if (what === 'prepare') await this.prepare('known');
    else if (what === 'retry') this.store.retryFailed('all');
    else if (what === 'assign') await this.assign(pick('pending'));
    else if (what === 'split') this.forget(pick('pending', 'failed'), (key) => this.store.splitPart(key));
    else if (what === 'skip') this.forget(pick('pending', 'failed'), (key) => this.store.skipParts([key]));
    else await this.endAssigned(what, pick('assigned'));
  }

  async assign(key: string | undefined): Promise<void> {
    if (key !== undefined) this.attempts.set(key, await begin(this.store, key));
  }

  async endAssigned(what: string, key: string | undefined): Promise<void> {
    if (key === undefined) return;
    const attempt = this.attempts.get(key)!;
    if (what === 'complete' || what === 'damage') {
      const report = await scoresFor(this, key);
      const sha = what === 'damage' ? 'd'.repeat(64) : report.scores_sha256;
      const { outcome } = this.store.completePart({ ...report, scores_sha256: sha }, attempt, 2);
      expect(outcome).toBe(what === 'damage' ? 'scores_damaged' : 'taken');
      expect(this.store.completePart(report, attempt, 3).outcome).toBe(
        what === 'damage' ? 'superseded' : 'already_done',
      );
    } else if (what === 'fail') this.store.failPart(key, { code: 'device_lost', message: 'gone' });
    else
      this.store.endAttempt(attempt, { outcome: what === 'recall' ? 'recalled' : 'worker_lost', endedAt: 2 });
    this.attempts.delete(key);
  }

  private forget(key: string | undefined, work: (key: string) => unknown): void {
    if (key !== undefined) work(key);
  }

  /** Checks the invariants that hold after every event. */
  check(): void {
    const { frames, parts } = this.store.counts();
    expect(frames.total).toBe(this.prepared.done.frames);
    expect(parts.assigned).toBe(this.attempts.size);
    const db = new BetterSqlite(join(this.folder, 'run.db'), { readonly: true });
    try {
      const stray = `SELECT count(*) FROM chunk LEFT JOIN part ON part.id = chunk.part
        WHERE part.state IS NULL OR part.state NOT IN ('done', 'failed', 'skipped')`;
      expect(db.prepare(stray).pluck().get()).toBe(0);
      expect(framesIn(db)).toBe(frames.done + frames.failed);
      expect(db.prepare('SELECT count(*) FROM attempt WHERE ended_at IS NULL').pluck().get()).toBe(
        parts.assigned,
      );
    } finally {
      db.close();
    }
  }

  async finish(): Promise<void> {
    this.store.retryFailed('all');
    for (const key of [...this.attempts.keys()]) await this.endAssigned('complete', key);
    for (const { key } of this.store.pendingParts()) {
      await this.assign(key);
      await this.endAssigned('complete', key);
    }
    this.check();
    await this.store.writeTables();
    const lines = [...this.prepared.frames.values()].flat().map((frame) => frameLine(frame));
    expect(readFileSync(join(this.folder, 'prediction_results.txt'), 'utf8')).toBe(
      ['Sequence_ID\tPrediction\tscore1\tscore2', ...lines, ''].join('\n'),
    );
    await this.store.close();
  }
}

function framesIn(db: Database.Database): number {
  const masks = db.prepare<[], number>('SELECT frames FROM chunk').pluck().all();
  return masks.reduce((sum, mask) => sum + mask.toString(2).replaceAll('0', '').length, 0);
}

function frameLine({ row, chunk, frame }: FrameRef): string {
  const score2 = scoreOf({ row, chunk, frame });
  const score1 = Math.fround(1 - score2);
  const call = isVirusFrame(score1, score2) ? 'virus' : 'others';
  return `r${row}_chunk_${chunk + 1}${FRAME_NAMES[frame]}\t${call}\t${float32Text(score1)}\t${float32Text(score2)}`;
}

it('loses no frame and holds none twice, whatever happens to the parts', async () => {
  const masks = fc.array(fc.array(fc.integer({ min: 0, max: 63 }), { minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(
      masks,
      fc.integer({ min: 1, max: 20 }),
      steps,
      async (openFrames, framesPerPart, list) => {
        const world = new World(openFrames, framesPerPart);
        await world.prepare('new');
        for (const { what, at } of list) {
          await world.happen(what, at);
          world.check();
        }
        await world.finish();
      },
    ),
    { numRuns: 40 },
  );
});
