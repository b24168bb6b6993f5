import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { TOKENS_PER_BATCH } from '../../contract/plan.ts';
import { NOTICE_FILE, PROVISIONAL_TABLE, RESULT_FILES } from '../../contract/results.ts';
import { unwrap } from '../../contract/errors.ts';
import type { RunState } from '../../contract/runState.ts';
import { readTables, SAMPLE, temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { exported } from '../exports/testing/exported.ts';
import { detailsOf, samplesOf } from '../exports/samples.ts';
import { openRunStore } from '../store/runStore.ts';
import { readRunReport } from './finish/runJson.ts';
import { OpenRun } from './openRun.ts';
import { callsOf, codes, makeRun, predict, undisturbed, type Outcome } from './testing/realRuns.ts';
import { sealPlan } from '../store/sqlite/parts/digests.ts';

const ONE_RECORD = `>a\n${'GCC'.repeat(100)}\n`;
let oneRecord: Promise<Outcome> | undefined;
/** One record, with more workers than parts. */
const oneRecordAlone = (): Promise<Outcome> => (oneRecord ??= predictOneRecord());

async function predictOneRecord(): Promise<Outcome> {
  const input = join(temporaryFolder(), 'one.fa');
  await writeFile(input, ONE_RECORD);
  return predict(testContext(), { inputs: [input], devices: 'cpu:2' });
}

describe.skipIf(WITHOUT_PYTHON)('a run with real workers', () => {
  it('gives the same bytes with one and two CPU workers, and with a worker killed in between', async () => {
    const one = await undisturbed();
    expect(one.state).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    expect(one.folder).toMatch(/_predictions_NOT_FOR_RESEARCH$/);
    expect(await readdir(one.folder)).toContain(NOTICE_FILE);
    const headers = (await readFile(join(one.folder, RESULT_FILES.viralSequences), 'utf8')).match(/^>.*$/gm);
    expect(headers?.length).toBeGreaterThan(0);
    expect(headers?.filter((line) => !line.endsWith('[teaching model, not for research]'))).toEqual([]);
    const marker = join(temporaryFolder(), 'died');
    const [two, killed] = [
      await predict(testContext(), { devices: 'cpu:2' }),
      await predict(testContext({ fault: `die_once:${marker}` }), { devices: 'cpu:1' }),
    ];
    expect(two.tables).toEqual(one.tables);
    expect(killed.tables).toEqual(one.tables);
    expect(codes(killed)).toContain('worker_died');
  });

  it('pauses, frees the devices, and resumes to the same bytes after damaged work files are rewritten', async () => {
    const whole = await undisturbed();
    const session = await makeRun(testContext());
    unwrap(await session.start());
    await expect.poll(() => session.progress().parts.done, { interval: 20 }).toBeGreaterThanOrEqual(2);
    unwrap(await session.pause());
    expect(session.record.state).toEqual({ phase: 'paused', error: null });
    expect(session.deviceStates()).toEqual([]);
    const storedSeconds = async () => (await session.record.store.timings()).workingMilliseconds / 1000;
    expect(session.progress().elapsedSeconds).toBe(await storedSeconds());
    const before = session.progress().parts.done;
    expect(before).toBeGreaterThanOrEqual(2);
    const [last] = (await session.record.store.pendingParts()).toReversed();
    unwrap(await session.skip([last?.key ?? '']));
    const parts = join(session.folder, 'work', 'parts');
    for (const name of await readdir(parts))
      if (!name.startsWith(last?.key ?? '')) await writeFile(join(parts, name), 'damaged');
    unwrap(await session.start());
    unwrap(await session.retry('all'));
    expect(await session.whenIdle()).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    expect(session.progress().elapsedSeconds).toBe(await storedSeconds());
    const [{ facts } = { facts: {} }] = session.record.stored.devices;
    await session.close();
    expect(facts).toMatchObject({ tokensPerBatch: TOKENS_PER_BATCH.cpu });
    expect(await readTables(session.folder)).toEqual(whole.tables);
  });

  it('stops at its goal, and remembers it until the rest is computed to the same bytes', async () => {
    const whole = await undisturbed();
    const session = await makeRun(testContext(), { until: { kind: 'time', seconds: 0.001, from: 0 } });
    const provisional = join(session.folder, PROVISIONAL_TABLE);
    unwrap(await session.start());
    expect(await session.whenIdle()).toMatchObject({
      phase: 'paused',
      error: null,
      enough: { kind: 'time' },
    });
    expect(await readFile(provisional, 'utf8')).toMatch(/^no\t/);
    expect((await session.setGoal({ kind: 'half_width', share: 0.1 })).ok).toBe(false);

    unwrap(await session.start());
    expect(session.goal).toBeNull();
    expect(await session.whenIdle()).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    await session.close();
    expect(await readTables(session.folder)).toEqual(whole.tables);
    await expect(readFile(provisional)).rejects.toThrow('ENOENT');
  });

  it('leaves a file out that turns out to be cut off, also where parts of its even sample are computed by then', async () => {
    const cut = join(temporaryFolder(), 'cut.fa.gz');
    await writeFile(cut, gzipSync(await readFile(SAMPLE)).subarray(0, -8));
    const inputs = { inputs: [cut, SAMPLE], residuesPerPart: 800 };
    const [sample, file] = [
      await predict(testContext(), { ...inputs, order: 'sample' }),
      await predict(testContext(), { ...inputs, order: 'file' }),
    ];
    expect(codes(sample)).toContain('input_truncated');
    expect(sample.state).toMatchObject({ phase: 'done', failedParts: 0 });
    expect(callsOf(sample.tables)).toEqual(callsOf(file.tables));
  });

  it('shows the results of finished parts while it runs, and is finished with them on demand, until the rest is computed', async () => {
    const whole = await undisturbed();
    // Some parts must be left, however quickly the others are computed.
    const permits = temporaryFolder();
    for (let part = 0; part < 4; part++) await writeFile(join(permits, String(part)), '');
    const session = await makeRun(testContext({ fault: `permitted:${permits}` }));
    unwrap(await session.start());
    await expect
      .poll(() => session.progress().parts.done >= 2 && session.progress().prepare.finished, {
        interval: 20,
      })
      .toBe(true);
    const byRow = { by: 'row', descending: false } as const;
    const early = await session.record.store.findSequences({ filter: {} }, byRow, 0, 1000);
    expect(early.total).toBeGreaterThan(0);

    unwrap(await session.finishNow());
    await rm(permits, { recursive: true, force: true });
    const state = await session.whenIdle();
    expect(state).toMatchObject({ phase: 'done' });
    const { failedRecords } = state as Extract<RunState, { phase: 'done' }>;
    expect(failedRecords).toBeGreaterThan(0);
    const finished = await session.record.store.findSequences({ filter: {} }, byRow, 0, 1000);
    for (const sequence of early.items) {
      const later = finished.items[sequence.row];
      // A part of each of the others was computed.
      if (later?.nFramesScored === sequence.nFramesScored && later.reason !== 'not_computed')
        expect(later).toEqual(sequence);
    }
    const missing = finished.items.filter(({ prediction }) => prediction === 'failed');
    expect(missing).toHaveLength(failedRecords);
    expect(new Set(missing.map(({ reason }) => reason))).toEqual(new Set(['not_computed']));
    const listed = (await readTables(session.folder))[RESULT_FILES.failedRecords] ?? '';
    expect(listed.trimEnd().split('\n')).toHaveLength(failedRecords + 1);

    unwrap(await session.retry('all'));
    const phases: string[] = [];
    session.record.subscribe((change) => {
      if (change.type === 'state') phases.push(change.state.phase);
    });
    unwrap(await session.start());
    expect(await session.whenIdle()).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    expect(phases).toEqual(['running', 'finishing', 'done']);
    await session.close();
    expect(await readTables(session.folder)).toEqual(whole.tables);
  });

  it('keeps the samples that were named before the start, until others are named', async () => {
    const session = await makeRun(testContext(), { samples: { [SAMPLE]: 'Pond', '/not/there.fa': 'x' } });
    expect(samplesOf(session.record.stored)).toEqual(['Pond']);
    unwrap(await session.record.setSamples(['Lake']));
    expect(samplesOf(session.record.stored)).toEqual(['Lake']);
    expect(samplesOf(await session.record.store.loadRun())).toEqual(['Lake']);
    const details = [{ group: 'lake', note: null, control: true }];
    unwrap(await session.record.setSamples(['Lake'], details));
    unwrap(await session.record.setSamples([]));
    expect(samplesOf(session.record.stored)).toEqual(['sample']);
    // What is known of the file's sample stays without its name.
    expect(detailsOf(session.record.stored)).toEqual(details);
    expect(detailsOf(await session.record.store.loadRun())).toEqual(details);
    await session.close();
  });

  it('can be hurried while pausing, such as when the program quits, and has nothing to pause before it begins', async () => {
    const session = await makeRun(testContext({ fault: 'stalled' }));
    unwrap(await session.pause());
    expect(session.record.state.phase).toBe('created');
    unwrap(await session.start());
    await expect.poll(() => session.progress().parts.inWork, { timeout: 60_000 }).toBeGreaterThan(0);
    const pausing = session.pause();
    unwrap(await session.stopNow());
    expect(session.record.state).toEqual({ phase: 'paused', error: null });
    unwrap(await pausing);
    await session.close();
  });

  it('reports workers with another protocol version, and pauses with everything kept', async () => {
    const outcome = await predict(testContext({ fault: 'wrong_version' }));
    expect(codes(outcome)).toContain('protocol_version');
    expect(outcome.state).toMatchObject({ phase: 'paused', error: { code: 'no_usable_device' } });
    const store = await openRunStore(outcome.folder, { hostEntry: testContext().storeHost, readOnly: true });
    const { devices } = await readRunReport(store);
    await store.close();
    expect(devices.map(({ switched_off }) => switched_off)).toEqual([expect.any(String)]);
  });

  it('stops if another program has taken over the run, such as while this computer slept', async () => {
    const session = await makeRun(testContext({ fault: 'stalled' }));
    expect((await session.start()).ok).toBe(true);
    const lock = join(session.folder, 'run.lock');
    const holder = JSON.parse(await readFile(lock, 'utf8')) as Record<string, unknown>;
    const theirs = JSON.stringify({ ...holder, host: 'node-7', token: 'of-node-7' });
    await writeFile(lock, theirs);
    expect(await session.whenIdle()).toMatchObject({ phase: 'paused', error: { code: 'run_locked' } });
    await session.close();
    expect(await readFile(lock, 'utf8')).toBe(theirs);
  });

  it('handles no scorable frame, one record, and more workers than parts', async () => {
    const folder = temporaryFolder();
    const stops = join(folder, 'stops.fa');
    await writeFile(stops, `>only_stops\n${'TAATTAATTAACTAGCTAG'.repeat(10)}\n`);
    const none = await predict(testContext(), { inputs: [stops] });
    expect(none.state).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    expect(none.tables['sequences.tsv']).toMatch(/\tnot_scored\tno_open_frame\t/);
    const one = await oneRecordAlone();
    expect(one.state).toMatchObject({ phase: 'done' });
    expect(one.tables['sequences.tsv']?.split('\n')).toHaveLength(3);
  });

  it.each(['sample', 'file'] as const)(
    'notices an input that changes or grows, in the order %s',
    async (order) => {
      const input = join(temporaryFolder(), 'changing.fa');
      const record = `>a\n${'GCC'.repeat(100)}\n`;
      await writeFile(input, record);
      const session = await makeRun(testContext(), { inputs: [input], order });
      // Equal in size, so that only reading finds the change.
      await writeFile(input, `>a\n${'GCA'.repeat(100)}\n`);
      unwrap(await session.start());
      expect(await session.whenIdle()).toMatchObject({ phase: 'paused', error: { code: 'input_changed' } });
      await writeFile(input, record + ONE_RECORD);
      expect(await session.start()).toMatchObject({ ok: false, error: { code: 'input_changed' } });
      await writeFile(input, record);
      expect((await session.start()).ok).toBe(true);
      expect(await session.whenIdle()).toMatchObject({ phase: 'done' });
      await session.close();
    },
  );

  /** A run that was interrupted before its input, of this size, was read completely. */
  async function interruptedRun(input: string, sizeBytes: number): Promise<OpenRun> {
    await writeFile(input, ONE_RECORD);
    const made = await makeRun(testContext(), { inputs: [input] });
    await made.close();
    const database = new Database(join(made.folder, 'run.db'));
    database.prepare('UPDATE input SET size_bytes = ?').run(sizeBytes);
    sealPlan(database);
    database.prepare('UPDATE run SET state = ?').run(JSON.stringify({ phase: 'pausing' }));
    database.close();
    const run = unwrap(await OpenRun.open(testContext(), made.folder));
    expect(run.interrupted).toBe(true);
    return run;
  }

  it.skipIf(process.platform === 'win32')(
    'explains why an interrupted run cannot continue, and does not block on a pipe in place of its input',
    async () => {
      const input = join(temporaryFolder(), 'reads.fa');
      const run = await interruptedRun(input, 0);
      await rm(input);
      execFileSync('mkfifo', [input]);
      expect(await run.start()).toMatchObject({ ok: false, error: { code: 'input_unreadable' } });
      await run.close();
      const again = unwrap(await OpenRun.open(testContext(), run.folder));
      expect(again.record.state).toMatchObject({ phase: 'paused', error: { code: 'input_unreadable' } });
      await again.close();
    },
  );

  it.each(['pause', 'drain', 'stopNow'] as const)(
    'can take %s before its input is fully compared',
    async (rest) => {
      const input = join(temporaryFolder(), 'huge.fa');
      const size = 2 ** 42;
      const run = await interruptedRun(input, size);
      await truncate(input, size);
      const starting = run.start();
      unwrap(await run[rest]());
      unwrap(await starting);
      expect(run.record.state).toEqual({ phase: 'paused', error: null });
      await run.close();
    },
  );

  it('continues without unusable files, and lists them by their names', async () => {
    const folder = temporaryFolder();
    const path = (name: string): string => join(folder, name);
    const [good, words, changing] = [path('good.fa'), path('words.fa'), path('changing.fa')];
    await writeFile(good, ONE_RECORD);
    await writeFile(words, 'no sequences\n');
    await writeFile(changing, `>b\n${'GCC'.repeat(100)}\n`);
    const alone = await oneRecordAlone();
    const session = await makeRun(testContext(), { inputs: [changing, words, good] });
    await writeFile(changing, `>b\n${'GCA'.repeat(100)}\n`);
    unwrap(await session.start());
    expect(await session.whenIdle()).toEqual({
      phase: 'done',
      failedParts: 0,
      failedRecords: 0,
      failedInputs: 2,
    });
    expect(await readFile(await exported(session.record.store, 'fasta'), 'utf8')).toMatch(/^>a \[/);
    await session.close();
    const tables = await readTables(session.folder);
    expect(tables['failed_files.txt']?.split('\n')).toEqual([
      expect.stringMatching(/words\.fa\|inspection\|\w+: /),
      expect.stringMatching(/changing\.fa\|reading\|input_changed: /),
      '',
    ]);
    expect(tables['viral_sequences.fna']).toEqual(alone.tables['viral_sequences.fna']);
    expect(tables['prediction_results.txt']).toEqual(alone.tables['prediction_results.txt']);
  });
});
