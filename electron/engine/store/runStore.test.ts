import { rmSync, truncateSync, writeFileSync, appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AppFailure } from '../../contract/errors.ts';
import type { RunState } from '../../contract/runState.ts';
import { openRunStore } from './runStore.ts';
import {
  begin,
  compute,
  computeAll,
  HOST_ENTRY,
  preparedRun,
  reportPrepare,
  scoreOf,
  scoresFor,
} from './testing/storeFixture.ts';
import { DESCRIPTION, inputHash, recordOf, syntheticPlan, writePrepared } from './testing/syntheticRun.ts';
import { temporaryFolder } from '../testing/temporaryFolder.ts';

const TWO_INPUTS = [
  [recordOf('a', [1, 2, 3]), recordOf('b', [63])],
  [recordOf('c', [4]), recordOf('d', [0]), recordOf('e', [7, 8])],
];

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'no failure',
    (error: unknown) => (error instanceof AppFailure ? error.error.code : String(error)),
  );
}

describe('a run folder', () => {
  it('is closed even if the last changes cannot be brought into run.db', async () => {
    const run = await preparedRun(TWO_INPUTS);
    // This is what a full or lost disk does.
    truncateSync(join(run.folder, 'run.db-wal'), 0);
    await expect(run.store.close()).resolves.toBeUndefined();
    expect(await codeOf(run.store.setState({ phase: 'running' }))).toBe('internal');
  });

  it('stores all facts about a run', async () => {
    const run = await preparedRun(TWO_INPUTS);
    const device = {
      id: 'GPU-1',
      name: 'H200',
      kind: 'cuda',
      facts: { memory: 141 },
      switchedOff: null,
    } as const;
    await run.store.saveDevices([device]);
    await run.store.addInputProblem({
      type: 'input_problem',
      input: 1,
      code: 'lower_case',
      values: {},
      count: 3,
      examples: [{ row: 2, name: 'c', detail: '500 letters' }],
    });
    const annotation = { tags: ['soil', '2026'], note: 'second try' };
    await run.store.annotate(annotation);
    await run.store.setState({ phase: 'paused', error: null });
    await run.store.close();
    await run.store.close();
    // A closed run is a single file, which can be copied and read from disks that can't be written to.
    expect(readdirSync(run.folder).sort()).toEqual(['run.db', 'work']);

    const store = await openRunStore(run.folder, { hostEntry: HOST_ENTRY, readOnly: true });
    const loaded = await store.loadRun();
    expect(loaded).toMatchObject({
      description: { ...DESCRIPTION, options: { ...DESCRIPTION.options, annotation } },
      plan: syntheticPlan(2),
      state: { phase: 'paused', error: null },
      devices: [device],
      problems: [{ input: 1, code: 'lower_case', count: 3 }],
      prepared: run.prepared.done,
      counts: { records: 5, frames: { total: run.prepared.done.frames, done: 0, failed: 0 } },
    });
    expect(loaded.inputs.map(({ prepared }) => prepared)).toEqual([
      { records: 2, bases: 1993, firstRow: 0 },
      { records: 3, bases: 1993, firstRow: 2 },
    ]);
    await expect(store.setState({ phase: 'running' })).rejects.toThrow('look only');
    await store.close();
  });

  it('can be looked at while another one works on it', async () => {
    const run = await preparedRun(TWO_INPUTS);
    const looking = await openRunStore(run.folder, { hostEntry: HOST_ENTRY, readOnly: true });
    expect((await looking.counts()).parts.done).toBe(0);
    await computeAll(run);
    expect((await looking.counts()).parts.pending).toBe(0);
    await run.store.close();
    const writes = [looking.rename('x'), looking.skipParts(['000000']), looking.writeTables()];
    expect(await Promise.all(writes.map(codeOf))).toEqual(writes.map(() => 'run_locked'));
    await looking.close();
  });

  it('is not created over an existing one, nor opened if there is none', async () => {
    const run = await preparedRun([[recordOf('a', [1])]]);
    await run.store.close();
    const create = { plan: syntheticPlan(1), description: DESCRIPTION };
    expect(await codeOf(openRunStore(run.folder, { hostEntry: HOST_ENTRY, create }))).toBe('folder_has_run');
    expect(await codeOf(openRunStore(temporaryFolder(), { hostEntry: HOST_ENTRY }))).toBe('folder_not_a_run');
    expect(await codeOf(openRunStore('/nowhere/at/all', { hostEntry: HOST_ENTRY }))).toBe('folder_not_a_run');
    const file = openRunStore(import.meta.filename, { hostEntry: HOST_ENTRY, readOnly: true });
    expect(await codeOf(file)).toBe('folder_not_a_run');
  });
});

/** How the attempts at a run's parts have ended, in the order in which they began. */
function outcomesIn(folder: string): unknown[] {
  const db = new Database(join(folder, 'run.db'), { readonly: true });
  try {
    return db.prepare('SELECT outcome FROM attempt ORDER BY attempt').pluck().all();
  } finally {
    db.close();
  }
}

describe('on a network disk', () => {
  it('uses one connection for everything, which locks out all others', async () => {
    const run = await preparedRun([[recordOf('a', [3]), recordOf('b', [63])]], 4);
    await run.store.close();
    const hostEntry = new URL('./testing/networkHostEntry.ts', import.meta.url);
    const store = await openRunStore(run.folder, { hostEntry });
    await computeAll({ ...run, store });
    expect((await store.writeTables()).counts.framesScored).toBe(8);
    expect((await store.chunksOf(0, 0, 1)).total).toBe(1);
    expect(readdirSync(run.folder).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
    expect(await codeOf(openRunStore(run.folder, { hostEntry, readOnly: true }))).toBe('run_locked');
    await store.close();
    const again = await openRunStore(run.folder, { hostEntry: HOST_ENTRY });
    expect((await again.counts()).parts).toMatchObject({ done: 2, pending: 0 });
    await again.close();
  });
});

describe("prepare's reports", () => {
  it('replace a part only if its content has changed', async () => {
    const run = await preparedRun(TWO_INPUTS, 4);
    await computeAll(run);
    const changed = [[recordOf('a', [1, 2, 3]), recordOf('b', [62])], TWO_INPUTS[1]!];
    const again = writePrepared(run.folder, changed, { framesPerPart: 4 });
    const differing = again.parts.filter(({ sha256 }, i) => sha256 !== run.prepared.parts[i]?.sha256);
    const answers = await Promise.all(again.parts.map((part) => run.store.registerPart(part)));
    expect(answers.filter((answer) => answer === 'replaced')).toHaveLength(differing.length);
    expect((await run.store.pendingParts()).map(({ key }) => key)).toEqual(differing.map(({ key }) => key));
    await run.store.close();
  });

  it('of an input that is left out, and all after it, leave nothing that could be taken for the results of others', async () => {
    const reads = Array.from({ length: 12 }, (_, index) => recordOf(`s${index}`, [1]));
    const inputs = [reads.slice(0, 4), reads.slice(4, 8), reads.slice(8)];
    const run = await preparedRun(inputs, 3);
    await run.store.invalidatePrepare();
    const [, , third, fourth] = run.prepared.parts;
    for (const { key } of run.prepared.parts.slice(0, 3)) await compute(run, key);
    const attempt = await begin(run.store, fourth!);
    const report = await scoresFor(run, fourth!.key);
    const total = async () => (await run.store.countPredictions({ filter: {} })).total;
    expect(await total()).toBe(9);

    const failure = { code: 'input_changed', values: {} } as const;
    // It was read to its end before, and what is stored is of the right file.
    await run.store.forgetChanged(1);
    expect(await total()).toBe(9);
    expect(await run.store.failInput(1, failure)).toBe(4);
    // Rows 0 to 2: the part of row 3 had rows of the input as well.
    expect(await total()).toBe(3);
    expect(await run.store.part(third!.key)).toBeNull();
    expect(await run.store.completePart(report, attempt, 6)).toEqual({ outcome: 'superseded' });
    expect((await run.store.loadRun()).inputs.map(({ prepared }) => prepared !== null)).toEqual([
      true,
      false,
      false,
    ]);

    const again = writePrepared(run.folder, [inputs[0]!, inputs[2]!], { framesPerPart: 3 });
    for (const part of again.parts) await run.store.registerPart(part);
    expect((await run.store.pendingParts()).map(({ key }) => key)).toEqual(['000001', '000002']);
    expect(await total()).toBe(3);
    await run.store.close();
  });

  it('are refused if the counts do not add up, the file is damaged, or the input has changed', async () => {
    const folder = temporaryFolder();
    const prepared = writePrepared(folder, TWO_INPUTS);
    const create = { plan: syntheticPlan(2), description: DESCRIPTION };
    const store = await openRunStore(folder, { hostEntry: HOST_ENTRY, create });
    const [file] = prepared.records;
    expect(await codeOf(store.ingestRecords({ ...file!, sha256: 'e'.repeat(64) }))).toBe('prepare_failed');
    expect(await codeOf(store.ingestRecords({ ...file!, first_row: 1 }))).toBe('prepare_failed');
    expect(await store.counts()).toMatchObject({ records: 0 });
    expect(await codeOf(store.finishInput({ ...prepared.inputs[0]!, sha256: inputHash(7) }))).toBe(
      'input_changed',
    );
    await reportPrepare(store, prepared);
    for (const wrong of [
      { records: 4 },
      { frames: 1 },
      { residues: 1 },
      { chunks: 1 },
      { scorable_records: 1 },
    ])
      expect(await codeOf(store.finishPrepare({ ...prepared.done, ...wrong }))).toBe('prepare_failed');
    // After a refusal nothing is deleted.
    await store.finishPrepare(prepared.done);
    expect(await store.counts()).toMatchObject({ records: 5 });
    await store.close();
  });

  it('delete what an earlier prepare left beyond the new counts', async () => {
    const run = await preparedRun([Array.from({ length: 9 }, (_, i) => recordOf(`r${i}`, [63]))], 6);
    await computeAll(run);
    const fewer = writePrepared(run.folder, [Array.from({ length: 4 }, (_, i) => recordOf(`r${i}`, [63]))], {
      framesPerPart: 6,
    });
    await reportPrepare(run.store, fewer);
    expect(await run.store.counts()).toMatchObject({
      records: 4,
      parts: { done: 4 },
      frames: { total: 24, done: 24 },
    });
    expect((await run.store.writeTables()).counts.framesScored).toBe(24);
    await run.store.close();
  });
});

describe('a part', () => {
  it('is computed again if its scores differ from the report', async () => {
    const run = await preparedRun([[recordOf('a', [63]), recordOf('b', [63])]], 6);
    const [{ key }, other] = [run.prepared.parts[0]!, run.prepared.parts[1]!];
    const damage: ((path: string) => void)[] = [
      (path) => appendFileSync(path, 'x'),
      (path) => writeFileSync(path, ''),
      (path) => rmSync(path),
    ];
    for (const harm of damage) {
      const attempt = await begin(run.store, key);
      const report = await scoresFor(run, key);
      harm(join(run.folder, report.scores_path));
      expect(await run.store.completePart(report, attempt, 2000)).toMatchObject({
        outcome: 'scores_damaged',
      });
      expect(await run.store.part(key)).toMatchObject({ state: 'pending' });
    }
    // Well-formed, but with the number of frames of another part, or with impossible scores.
    const bad = [
      async () => ({ ...(await scoresFor(run, key, () => 1.5)), part: key }),
      async () => {
        const half = { ...run.prepared, frames: new Map([[key, run.prepared.frames.get(key)!.slice(1)]]) };
        return scoresFor({ ...run, prepared: half }, key);
      },
    ];
    for (const report of bad) {
      const attempt = await begin(run.store, key);
      expect(await run.store.completePart(await report(), attempt, 1)).toMatchObject({
        outcome: 'scores_damaged',
      });
    }
    expect(await run.store.part(key)).toMatchObject({ state: 'pending', attempts: 5 });
    expect(await compute(run, other.key)).toMatchObject({ outcome: 'taken' });
    await run.store.close();
  });

  it('is prepared again if its own file is missing or damaged', async () => {
    const run = await preparedRun([[recordOf('a', [63]), recordOf('b', [63])]], 6);
    const [first, second] = [run.prepared.parts[0]!, run.prepared.parts[1]!];
    appendFileSync(join(run.folder, first.path), 'x');
    rmSync(join(run.folder, second.path));
    expect(await run.store.verifyPendingParts()).toEqual([first.key, second.key]);
    expect(await compute(run, first.key)).toMatchObject({ outcome: 'part_damaged' });
    expect(await run.store.failPart(second.key, { code: 'device_lost', message: '' })).toMatchObject({
      outcome: 'part_damaged',
    });
    expect((await run.store.counts()).parts.pending).toBe(2);
    await run.store.close();
  });

  it('costs no attempt when it is recalled, and is returned if its engine died', async () => {
    const run = await preparedRun([[recordOf('a', [1])]]);
    const { key } = run.prepared.parts[0]!;
    for (const outcome of ['recalled', 'interrupted', 'worker_lost', 'recalled'] as const)
      await run.store.endAttempt(await begin(run.store, key), { outcome, endedAt: 9 });
    await begin(run.store, key);
    // Simulates a crash: closed without ending the attempt.
    await run.store.close();
    const store = await openRunStore(run.folder, { hostEntry: HOST_ENTRY });
    expect(await store.part(key)).toMatchObject({ state: 'pending', attempts: 1, device: null });
    const outcomes = ['recalled', 'interrupted', 'worker_lost', 'recalled', 'interrupted'];
    expect(outcomesIn(run.folder)).toEqual(outcomes);
    await store.close();
  });

  it('is cut between chunks, down to the one that fails, and the rest succeeds', async () => {
    const run = await preparedRun([[recordOf('a', [63, 1, 3, 7]), recordOf('b', [1])]], 100);
    const { key } = run.prepared.parts[0]!;
    // 6 + 1 + 2 + 3 + 1 = 13 frames: the boundary at 6 is nearest the middle.
    await run.store.endAttempt(await begin(run.store, key), { outcome: 'worker_lost', endedAt: 2 });
    expect(await run.store.splitPart(key)).toEqual({ outcome: 'split', children: [`${key}.0`, `${key}.1`] });
    expect(await run.store.splitPart(key)).toMatchObject({ outcome: 'split' });
    expect(await run.store.pendingParts()).toMatchObject([
      { key: `${key}.0`, frameBegin: 0, frameEnd: 6, residues: 60, chunks: 1, bisected: true, parent: key },
      { key: `${key}.1`, frameBegin: 6, frameEnd: 13, residues: 70, chunks: 4, firstRow: 0, lastRow: 1 },
    ]);
    expect(await run.store.splitPart(`${key}.0`)).toEqual({ outcome: 'indivisible' });
    await begin(run.store, `${key}.0`);
    await run.store.failPart(`${key}.0`, { code: 'out_of_memory', message: 'too long' });
    expect(await run.store.failedParts(9)).toMatchObject([
      { key: `${key}.0`, firstName: 'a', lastName: 'a', failure: { code: 'out_of_memory' }, log: null },
    ]);
    await compute(run, `${key}.1`);
    expect(await run.store.counts()).toMatchObject({
      parts: { split: 1, done: 1, failed: 1, pending: 0 },
      frames: { total: 13, done: 7, failed: 6 },
      boundedParts: 1,
    });
    await run.store.writeTables();
    expect((await run.store.chunksOf(0, 0, 10)).chunks.map(({ reason }) => reason)).toEqual([
      'out_of_memory',
      'ok',
      'ok',
      'ok',
    ]);
    expect(await run.store.retryFailed('all')).toEqual([`${key}.0`]);
    await compute(run, `${key}.0`);
    expect((await run.store.writeTables()).counts.byPrediction.failed).toBe(0);
    await run.store.close();
  });

  it('keeps the scores of its other frames when some are not finite', async () => {
    const run = await preparedRun([[recordOf('a', [3, 4])]], 100);
    const nan = ({ chunk, frame }: { chunk: number; frame: number }) =>
      chunk === 0 && frame === 0 ? NaN : 0.75;
    expect(await compute(run, '000000', nan)).toMatchObject({ outcome: 'taken' });
    await run.store.writeTables();
    const { chunks } = await run.store.chunksOf(0, 0, 10);
    expect(chunks).toMatchObject([
      { chunk: 1, reason: 'non_finite', isVirus: null, frames: [{ frame: 'F2', score2: 0.75 }] },
      { chunk: 2, reason: 'ok', isVirus: true, bestFrame: 'F3' },
    ]);
    await run.store.close();
  });
});

describe('progress', () => {
  it('finishes an input with the last part that holds records of it', async () => {
    const run = await preparedRun(
      [[recordOf('a', [3]), recordOf('b', [3])], [recordOf('c', [3])], [recordOf('d', [0])]],
      4,
    );
    const states = async () => (await run.store.inputProgress()).map(({ finished }) => finished);
    expect((await run.store.inputProgress()).map(({ parts, residues }) => [parts, residues.total])).toEqual([
      [1, 40],
      [1, 20],
      [0, 0],
    ]);
    expect(await states()).toEqual([false, false, true]);
    const inWork = async () => (await run.store.inputProgress()).map(({ partsInWork }) => partsInWork);
    const attempt = await begin(run.store, '000001');
    expect(await inWork()).toEqual([0, 1, 0]);
    await run.store.completePart(await scoresFor(run, '000001', scoreOf), attempt, 2000);
    expect(await inWork()).toEqual([0, 0, 0]);
    expect(await states()).toEqual([false, true, true]);
    await compute(run, '000000');
    expect(await states()).toEqual([true, true, true]);
    // Each part took half a second.
    expect((await run.store.inputProgress()).map(({ deviceSeconds }) => deviceSeconds)).toEqual([
      0.5, 0.5, 0,
    ]);
    await run.store.close();
  });

  it('counts the computing time without pauses', async () => {
    const run = await preparedRun([[recordOf('a', [1])]]);
    expect(await run.store.timings()).toMatchObject({ startedAt: null, workingMilliseconds: 0 });
    const change = async (state: RunState) => {
      const before = Date.now();
      await run.store.setState(state);
      const after = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 60));
      return { before, after };
    };
    const started = await change({ phase: 'running' });
    const paused = await change({ phase: 'paused', error: null });
    const resumed = await change({ phase: 'running' });
    const finished = await change({ phase: 'finishing' });
    const { workingMilliseconds } = await run.store.timings();
    // Each change happened between its two readings of the clock, however long it took.
    const least = paused.before - started.after + (finished.before - resumed.after);
    const most = paused.after - started.before + (finished.after - resumed.before);
    expect(workingMilliseconds).toBeGreaterThanOrEqual(least);
    expect(workingMilliseconds).toBeLessThanOrEqual(most);
    await run.store.close();
  });

  it('does not count the time between a crash and the continuation', async () => {
    const run = await preparedRun([[recordOf('a', [1])]]);
    await run.store.setState({ phase: 'running' });
    const begun = Date.now();
    const note = { level: 'warning', message: 'x', detail: null } as const;
    // The last sample, followed by an hour without any.
    await run.store.addSamples([
      {
        time: begun + 5_000,
        device: 'cpu:0',
        utilizationPercent: null,
        memoryUsedBytes: null,
        powerW: null,
        temperatureC: null,
        residuesPerSecond: null,
        framesPerSecond: null,
      },
    ]);
    await run.store.addEvent({ ...note, time: begun + 3_600_000, code: 'run_interrupted' });
    await run.store.setState({ phase: 'paused', error: null });
    await run.store.setState({ phase: 'running' });
    const { workingMilliseconds } = await run.store.timings();
    expect(workingMilliseconds).toBeLessThan(60_000);
    await run.store.close();
  });
});

it('counts all that a run at rest has computed, however long that takes, since nobody asks again', async () => {
  const records = Array.from({ length: 20_000 }, (_, i) => recordOf(`s${i}`, [1]));
  const run = await preparedRun([records], { framesPerPart: 500, recordsPerFile: 10_000 });
  await computeAll(run);
  await run.store.setState({ phase: 'paused', error: null });
  await run.store.close();
  const store = await openRunStore(run.folder, { hostEntry: HOST_ENTRY, readOnly: true });
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 10_000));
  onTestFinished(() => void vi.restoreAllMocks());
  expect((await store.countPredictions({ filter: {} })).total).toBe(20_000);
  await store.close();
});

describe('a run that takes over what an earlier one computed', () => {
  it('has its sound parts done and sealed, computes a damaged one, and all if the earlier run is gone', async () => {
    const earlier = await preparedRun(TWO_INPUTS, 4);
    await computeAll(earlier);
    const [damaged, ...sound] = earlier.prepared.parts.map(({ key }) => key);
    await earlier.store.close();
    const taking = async () => {
      const { store } = await preparedRun(TWO_INPUTS, 4, { earlier: earlier.folder });
      const pending = (await store.pendingParts()).map(({ key }) => key);
      const done = (await store.partsIn('done')).map(({ key, device }) => [key, device]);
      const taken = (await store.counts()).residuesTakenOver;
      const { found } = await store.findDamage();
      await store.close();
      return { pending, done, taken, found };
    };
    const all = earlier.prepared.parts.map(({ key }) => [key, null]);
    const { residues } = earlier.prepared.done;
    expect(await taking()).toEqual({ pending: [], done: all, taken: residues, found: [] });

    const db = new Database(join(earlier.folder, 'run.db'));
    db.prepare(
      `UPDATE chunk SET scores = zeroblob(length(scores))
      WHERE part = (SELECT id FROM part WHERE key = ?)`,
    ).run(damaged);
    db.close();
    expect(await taking()).toMatchObject({
      pending: [damaged],
      done: sound.map((key) => [key, null]),
      found: [],
    });

    rmSync(earlier.folder, { recursive: true });
    expect(await taking()).toMatchObject({ pending: [damaged, ...sound], done: [], taken: 0 });
  });
});
