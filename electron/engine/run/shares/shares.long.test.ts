import { existsSync, readdirSync } from 'node:fs';
import { cp, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import { unwrap } from '../../../contract/errors.ts';
import type { RunState } from '../../../contract/runState.ts';
import { readTables, temporaryFolder, testContext, WITHOUT_PYTHON } from '../../testing/testContext.ts';
import { acquireRunLock } from '../../store/runFolder.ts';
import { OpenRun } from '../openRun.ts';
import { makeRun, predict, type Outcome } from '../testing/realRuns.ts';
import { storedFacts } from '../../service/runs/storedFacts.ts';
import { openShare } from './openShare.ts';
import { keepShareStatus, sharesBegun } from './shareStatus.ts';

const context = testContext();

let local: Promise<Outcome> | undefined;
/** A run here in the precision of shares on processors, whatever this processor prefers. */
const undisturbed = (): Promise<Outcome> => (local ??= predict(context, { precision: 'fp32' }));

async function prepared(request: Parameters<typeof makeRun>[1] = {}): Promise<string> {
  const where = { kind: 'shares', on_processors: true } as const;
  const run = await makeRun(context, { ...request, where, devices: 'auto' });
  unwrap(await run.start({ preparesOnly: true }));
  expect(await run.whenIdle()).toEqual({ phase: 'paused', error: null });
  await run.close();
  return run.folder;
}

async function share(folder: string, index: number, of: number): Promise<OpenRun> {
  const opened = unwrap(await openShare(context, folder, { index, of }));
  if (opened === null) throw new Error('the share has no parts');
  return opened;
}

/** Computes a share completely, or until this many of its parts are done. */
async function compute(folder: string, index: number, of: number, until = Infinity): Promise<RunState> {
  const run = await share(folder, index, of);
  const closeStatus = keepShareStatus(run);
  unwrap(await run.start({ devices: 'cpu:1' }));
  if (until !== Infinity) {
    await expect
      .poll(async () => (await run.record.store.counts()).parts.done, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(until);
    unwrap(await run.stopNow());
  }
  const state = await run.whenIdle();
  closeStatus();
  await run.close();
  return state;
}

async function finish(folder: string): Promise<{ state: RunState; left: number; notes: string[] }> {
  const run = unwrap(await OpenRun.open(context, folder));
  const notes: string[] = [];
  run.record.subscribe((change) => {
    if (change.type === 'note') notes.push(change.note.code);
  });
  unwrap(await run.start({ preparesOnly: true }));
  const state = await run.whenIdle();
  const left = (await run.record.store.counts()).parts.pending;
  await run.close();
  return { state, left, notes };
}

const DONE: RunState = { phase: 'done', failedParts: 0, failedRecords: 0 };

describe.skipIf(WITHOUT_PYTHON)('a run that is computed by shares', () => {
  it('gives each share as much of every round, so that each begins with an even sample', async () => {
    const folder = await prepared({ order: 'sample', residuesPerPart: 300 });
    const run = unwrap(await OpenRun.open(context, folder));
    const parts = await run.record.store.pendingParts();
    await run.close();
    const rounds = Map.groupBy(parts, ({ round }) => round);
    expect(rounds.size).toBeGreaterThan(3);

    const keys: string[] = [];
    for (const index of [1, 2, 3]) {
      const opened = await share(folder, index, 3);
      const own = await opened.record.store.pendingParts();
      keys.push(...own.map(({ key }) => key));
      for (const [round, all] of rounds) {
        const count = own.filter((part) => part.round === round).length;
        expect([Math.floor(all.length / 3), Math.ceil(all.length / 3)]).toContain(count);
      }
      await opened.close();
    }
    expect(keys.toSorted()).toEqual(parts.map(({ key }) => key).toSorted());
  });

  it('gives the bytes of a local run when stopped, finished too early, computed twice, redivided and resumed here', async () => {
    const folder = await prepared();
    const parts = (await finish(folder)).left;
    expect(await compute(folder, 1, 3, 2)).toEqual({ phase: 'paused', error: null });
    // Results of a stopped share are kept, and it continues from there.
    const before = unwrap(await OpenRun.open(context, folder));
    const seen = await storedFacts(before.record.store);
    const shares = await sharesBegun(before.record.store);
    await before.close();
    expect(shares?.shares).toMatchObject([{ share: '1/3', computing: false, status: { phase: 'paused' } }]);
    expect(seen.progress.parts.done).toBe(shares?.parts);
    expect(shares?.parts).toBeGreaterThanOrEqual(2);
    expect(seen.progress.residues.done).toBeGreaterThan(0);
    expect(seen.progress.frames.done).toBeGreaterThan(seen.progress.parts.done);
    const early = await finish(folder);
    expect(early.state).toEqual({ phase: 'paused', error: null });
    expect(early.left).toBeLessThanOrEqual(parts - 2);
    expect(await compute(folder, 1, 3)).toEqual(DONE);
    expect(await compute(folder, 1, 3)).toEqual(DONE);
    // Shares of different divisions overlap: each part counts once.
    expect(await compute(folder, 2, 4)).toEqual(DONE);
    expect((await finish(folder)).left).toBeGreaterThan(0);
    expect(readdirSync(join(folder, 'shares'))).toEqual([]);
    // Parts that no share has computed are computed here.
    const rest = unwrap(await OpenRun.open(context, folder));
    unwrap(await rest.start({ devices: 'cpu:1' }));
    expect(await rest.whenIdle()).toEqual(DONE);
    await rest.close();
    expect(await readTables(folder)).toEqual((await undisturbed()).tables);
    expect(existsSync(join(folder, 'shares'))).toBe(false);
    const facts = await readFile(join(folder, 'run.json'), 'utf8');
    expect(facts).toContain('cpu:0@');
  });

  it('distinguishes the processors of shares that one computer computes', async () => {
    const folder = await prepared();
    for (const index of [1, 2]) expect(await compute(folder, index, 2)).toEqual(DONE);
    expect((await finish(folder)).state).toEqual(DONE);
    const facts = JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as {
      devices: { id: string; parts: number }[];
    };
    const ids = facts.devices.map(({ id }) => id.replace(/@.*#/, ' of '));
    expect(ids.toSorted()).toEqual(['cpu:0 of 1-of-2', 'cpu:0 of 2-of-2']);
  });

  it('merges no changed byte from a share, nor a share of another run, and computes them again', async () => {
    const folder = await prepared();
    for (const index of [1, 2, 3]) expect(await compute(folder, index, 3)).toEqual(DONE);
    const database = (index: number): string => join(folder, 'shares', `${index}-of-3`, 'run.db');
    const changed = new Database(database(1));
    changed.exec(
      `UPDATE chunk SET scores = zeroblob(length(scores)) WHERE row = (SELECT min(row) FROM chunk)`,
    );
    changed.close();
    const foreign = new Database(database(2));
    foreign.exec(`UPDATE run SET options = json_set(options, '$.share', 'another')`);
    foreign.close();
    await truncate(database(3), 6000);
    const first = await finish(folder);
    expect(first.left).toBeGreaterThan(1);
    expect(first.notes).toEqual(expect.arrayContaining(['share_damaged', 'share_unusable']));
    for (const index of [1, 2, 3]) expect(await compute(folder, index, 3)).toEqual(DONE);
    expect((await finish(folder)).state).toEqual(DONE);
    expect(await readTables(folder)).toEqual((await undisturbed()).tables);
  });

  it('leaves a share alone while a process computes it', async () => {
    const folder = await prepared();
    expect(await compute(folder, 1, 2)).toEqual(DONE);
    const lock = await acquireRunLock(join(folder, 'shares', '1-of-2'));
    const before = (await finish(folder)).left;
    const busy = await openShare(context, folder, { index: 1, of: 2 });
    expect(busy).toMatchObject({ ok: false, error: { code: 'run_locked' } });
    lock.release();
    expect((await finish(folder)).left).toBeLessThan(before);
  });

  it.skipIf(process.platform === 'win32')(
    'uses its cluster if it was made here, and none that its sender names',
    async () => {
      const tools = temporaryFolder();
      const asked = join(tools, 'asked');
      await writeFile(join(tools, 'sbatch'), `#!/bin/sh\necho "$@" >> '${asked}'\nexit 1\n`, { mode: 0o755 });
      vi.stubEnv('PATH', `${tools}:${process.env['PATH']}`);
      const where = {
        kind: 'slurm',
        script: '#!/bin/sh\n',
        shares: 2,
        on_processors: true,
      } as const;
      const own = await makeRun(context, { where, devices: 'cpu:1' });
      await own.close();
      const sent = join(temporaryFolder(), 'sent');
      await cp(own.folder, sent, { recursive: true });
      const stranger = unwrap(await OpenRun.open(context, sent));
      const notes: string[] = [];
      stranger.record.subscribe((change) => {
        if (change.type === 'note') notes.push(change.note.code);
      });
      unwrap(await stranger.start());
      expect(stranger.deviceStates()).toHaveLength(1);
      expect(stranger.clusterState()).toBeNull();
      unwrap(await stranger.stopNow());
      await stranger.close();
      expect(notes).toContain('place_not_followed');
      expect(existsSync(asked)).toBe(false);

      const ours = unwrap(await OpenRun.open(context, own.folder));
      unwrap(await ours.start());
      expect(await ours.whenIdle()).toMatchObject({ phase: 'paused', error: { code: 'cluster_failed' } });
      await ours.close();
      expect(existsSync(asked)).toBe(true);
      vi.unstubAllEnvs();
    },
  );
});
