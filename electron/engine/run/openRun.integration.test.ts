import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { DEMO_NOTE_FILE, RESULT_FILES } from '../../contract/results.ts';
import { unwrap } from '../../contract/result.ts';
import { runRequestSchema, type RunRequestInput } from '../../contract/rpc/runs.ts';
import type { RunState } from '../../contract/runState.ts';
import type { EngineContext } from '../engineContext.ts';
import { readTables, SAMPLE, temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { samplesOf } from '../exports/samples.ts';
import { openRunStore } from '../store/runStore.ts';
import { createRun } from './begin/createRun.ts';
import { readRunReport } from './finish/runReport.ts';
import type { RunNote } from './runNotes.ts';
import { OpenRun } from './openRun.ts';

interface RunJson {
  devices: {
    id: string;
    busy_share: number;
    memory_peak_bytes: number | null;
    attention: string;
    batchFillPercent?: number;
  }[];
  remarks: { code: string; message: string }[];
  counts: {
    frames: number;
    frames_protein_repeated: number;
    frames_outside_norm_band: number;
    norms: unknown;
    tolerance: number;
  };
}

interface Outcome {
  folder: string;
  state: RunState;
  notes: RunNote[];
  tables: Record<string, string>;
}

async function makeRun(context: EngineContext, request: Partial<RunRequestInput> = {}): Promise<OpenRun> {
  const parent = await temporaryFolder();
  const created = await createRun(context, {
    defaultParent: parent,
    request: runRequestSchema.parse({
      inputs: [SAMPLE],
      model: 'demo',
      devices: 'cpu:1',
      residuesPerPart: 4000,
      ...request,
    }),
  });
  if (!created.ok) throw new Error(created.error.cause);
  const session = await OpenRun.open(context, created.value.folder);
  if (!session.ok) throw new Error(session.error.cause);
  return session.value;
}

async function predict(context: EngineContext, request: Partial<RunRequestInput> = {}): Promise<Outcome> {
  const session = await makeRun(context, request);
  const notes: RunNote[] = [];
  session.subscribe((change) => {
    if (change.type === 'note') notes.push(change.note);
  });
  const started = await session.start();
  if (!started.ok) throw new Error(started.error.cause);
  const state = await session.whenIdle();
  await session.close();
  const tables = state.phase === 'done' ? await readTables(session.folder) : {};
  return { folder: session.folder, state, notes, tables };
}

let sample: Promise<Outcome> | undefined;
/** The sample computed by one worker without disturbance: what every other way to compute it is compared with. */
const undisturbed = (): Promise<Outcome> => (sample ??= predict(testContext()));

const ONE_RECORD = `>a\n${'GCC'.repeat(100)}\n`;
let oneRecord: Promise<Outcome> | undefined;
/** One record, with more workers than there is work. */
const oneRecordAlone = (): Promise<Outcome> => (oneRecord ??= predictOneRecord());

async function predictOneRecord(): Promise<Outcome> {
  const input = join(await temporaryFolder(), 'one.fa');
  await writeFile(input, ONE_RECORD);
  return predict(testContext(), { inputs: [input], devices: 'cpu:2' });
}

const codes = (outcome: Outcome): string[] => outcome.notes.map(({ code }) => code);

describe.skipIf(WITHOUT_PYTHON)('a run with real workers', () => {
  it('gives the same bytes with one and two CPU workers, and with a worker killed in between', async () => {
    const one = await undisturbed();
    expect(one.state).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    expect(one.folder).toMatch(/_predictions_DEMO$/);
    expect(await readdir(one.folder)).toContain(DEMO_NOTE_FILE);
    const headers = (await readFile(join(one.folder, RESULT_FILES.viralSequences), 'utf8')).match(/^>.*$/gm);
    expect(headers?.length).toBeGreaterThan(0);
    expect(headers?.filter((line) => !line.endsWith('DEMO (demo model, no biological meaning)'))).toEqual([]);
    const marker = join(await temporaryFolder(), 'died');
    const [two, killed] = [
      await predict(testContext(), { devices: 'cpu:2' }),
      await predict(testContext({ fault: `die_once:${marker}` }), { devices: 'cpu:1' }),
    ];
    expect(two.tables).toEqual(one.tables);
    expect(killed.tables).toEqual(one.tables);
    expect(codes(killed)).toContain('worker_died');
  });

  it('pauses, frees the devices, and goes on to the same bytes, with work files that are damaged made again', async () => {
    const whole = await undisturbed();
    const session = await makeRun(testContext());
    unwrap(await session.start());
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (session.progress().parts.done < 2) return;
        clearInterval(timer);
        resolve();
      }, 20);
    });
    const paused = await session.pause();
    expect(paused.ok).toBe(true);
    expect(session.state).toEqual({ phase: 'paused', error: null });
    expect(session.deviceStates()).toEqual([]);
    const before = session.progress().parts.done;
    expect(before).toBeGreaterThanOrEqual(2);
    const [last] = (await session.store.pendingParts()).toReversed();
    unwrap(await session.skip([last?.key ?? '']));
    const parts = join(session.folder, 'work', 'parts');
    for (const name of await readdir(parts))
      if (!name.startsWith(last?.key ?? '')) await writeFile(join(parts, name), 'damaged');
    unwrap(await session.start());
    await expect.poll(() => session.deviceStates()[0]?.tokensPerBatch, { interval: 20 }).toBe(512);
    unwrap(await session.retry('all', true));
    expect(session.deviceStates()[0]?.tokensPerBatch).toBe(256);
    expect(await session.whenIdle()).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    const [{ facts } = { facts: {} }] = session.stored.devices;
    await session.close();
    expect(facts).toMatchObject({ tokensPerBatch: 256 });
    expect(await readFile(join(session.folder, 'logs', 'worker-cpu-0.log'), 'utf8')).toContain(
      'LimitBatches(most_tokens_per_batch=256)',
    );
    expect(await readTables(session.folder)).toEqual(whole.tables);
  });

  it('shows the results of finished parts while it runs, and is finished with them on demand, until the rest is computed', async () => {
    const whole = await undisturbed();
    const session = await makeRun(testContext());
    unwrap(await session.start());
    await expect
      .poll(() => session.progress().parts.done >= 2 && session.progress().prepare.finished, {
        interval: 20,
      })
      .toBe(true);
    const byRow = { by: 'row', descending: false } as const;
    const early = await session.store.findSequences({ filter: {} }, byRow, 0, 1000);
    expect(early.total).toBeGreaterThan(0);

    unwrap(await session.finishNow());
    const state = await session.whenIdle();
    expect(state).toMatchObject({ phase: 'done' });
    const { failedRecords } = state as Extract<RunState, { phase: 'done' }>;
    expect(failedRecords).toBeGreaterThan(0);
    const finished = await session.store.findSequences({ filter: {} }, byRow, 0, 1000);
    for (const sequence of early.items) expect(finished.items[sequence.row]).toEqual(sequence);
    const missing = finished.items.filter(({ prediction }) => prediction === 'failed');
    expect(missing).toHaveLength(failedRecords);
    expect(new Set(missing.map(({ reason }) => reason))).toEqual(new Set(['not_computed']));
    const listed = (await readTables(session.folder))[RESULT_FILES.failedRecords] ?? '';
    expect(listed.trimEnd().split('\n')).toHaveLength(failedRecords + 1);

    unwrap(await session.retry('all'));
    unwrap(await session.start());
    expect(await session.whenIdle()).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    await session.close();
    expect(await readTables(session.folder)).toEqual(whole.tables);
  });

  it('keeps the samples that were named before the start, until others are', async () => {
    const session = await makeRun(testContext(), { samples: { [SAMPLE]: 'Pond', '/not/there.fa': 'x' } });
    expect(samplesOf(session.stored)).toEqual(['Pond']);
    await session.setSamples(['Lake']);
    expect(samplesOf(session.stored)).toEqual(['Lake']);
    expect(samplesOf(await session.store.loadRun())).toEqual(['Lake']);
    await session.setSamples([]);
    expect(samplesOf(session.stored)).toEqual(['sample']);
    await session.close();
  });

  it('starts no process where it is paused while it still looks through its parts', async () => {
    const session = await makeRun(testContext());
    vi.spyOn(session.store, 'verifyPendingParts').mockImplementation(async () => {
      unwrap(await session.pause());
      return [];
    });
    unwrap(await session.start());
    expect(session.state).toEqual({ phase: 'paused', error: null });
    await session.close();
    expect(await readdir(join(session.folder, 'logs'))).toEqual(['run.log']);
  });

  it('bisects a part that kills every worker down to the chunk that does it, and scores the rest', async () => {
    const residues = 'MKTAYIAKQR';
    const poison = 'ATGAAAACCGCCTACATCGCCAAACAGCGC';
    const poisoned = join(await temporaryFolder(), 'poisoned.fa');
    const filler = 'GCC'.repeat(60);
    const records = Array.from(
      { length: 12 },
      (_, i) => `>seq_${i}\n${filler}${i === 7 ? poison : ''}${filler}\n`,
    );
    await writeFile(poisoned, records.join(''));
    const outcome = await predict(testContext({ fault: `die_at:${residues}` }), {
      inputs: [poisoned],
      residuesPerPart: 100_000,
    });
    expect(outcome.state).toEqual({ phase: 'done', failedParts: 1, failedRecords: 1 });
    expect(codes(outcome)).toContain('part_bisected');
    const rows = (outcome.tables['sequences.tsv'] ?? '').trimEnd().split('\n').slice(1);
    expect(rows).toHaveLength(12);
    for (const row of rows) {
      const cells = row.split('\t');
      expect(cells[6], row).toBe(cells[0] === 'seq_7' ? 'failed' : cells[6] === 'virus' ? 'virus' : 'others');
    }
    expect(outcome.tables['failed_files.txt']).toContain('|');
    expect(outcome.tables['failed_records.tsv']).toContain('seq_7');
  });

  it('names the error when workers speak another protocol, and pauses with everything kept', async () => {
    const outcome = await predict(testContext({ fault: 'wrong_version' }));
    expect(codes(outcome)).toContain('protocol_version');
    expect(outcome.state).toMatchObject({ phase: 'paused', error: { code: 'no_usable_device' } });
    const store = await openRunStore(outcome.folder, { hostEntry: testContext().storeHost, readOnly: true });
    const { devices } = await readRunReport(store);
    await store.close();
    expect(devices.map(({ switched_off }) => switched_off)).toEqual([expect.any(String)]);
  });

  it('finds a worker that stalls, and counts its time, though the clock is set back', async () => {
    const session = await makeRun(testContext({ fault: 'stalled', deadlines: { stepFloorMs: 1500 } }));
    expect((await session.start()).ok).toBe(true);
    // A word of a process may come just before the jump and just after it.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => new Date().getTime() - 7_200_000);
    try {
      expect(await session.whenIdle()).toMatchObject({
        phase: 'paused',
        error: { code: 'no_usable_device' },
      });
      expect(session.progress().elapsedSeconds).toBeGreaterThan(1.5);
      // Nothing of the two hours.
      expect(session.progress().elapsedSeconds).toBeLessThan(3600);
    } finally {
      clock.mockRestore();
      await session.close();
    }
  });

  it('stops where another program has taken the run, as after this computer slept, and leaves it to that', async () => {
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

  it('says in log, database and run.json that a worker stalled, and how the devices did, though a library prints', async () => {
    const marker = join(await temporaryFolder(), 'stalled');
    const context = testContext({
      fault: `stall_once:${marker},library_print`,
      deadlines: { stepFloorMs: 1500 },
    });
    const outcome = await predict(context, { devices: 'cpu:2' });
    expect(outcome.state).toMatchObject({ phase: 'done' });
    expect(outcome.tables).toEqual((await undisturbed()).tables);
    const note = outcome.notes.find(({ code }) => code === 'worker_stalled');
    const log = await readFile(join(outcome.folder, 'logs', 'run.log'), 'utf8');
    expect(log).toContain(` warning ${note?.message}`);
    expect(log).toMatch(/ info .+ \(cpu:0\), \d+ s: ([\d,]+ residues\/s, )?[\d.]+ [MG]B$/m);
    expect(log).toMatch(/The run is done/);
    const runJson = JSON.parse(await readFile(join(outcome.folder, 'run.json'), 'utf8')) as RunJson;
    expect(runJson.remarks).toContainEqual(
      expect.objectContaining({ code: note?.code, message: note?.message }),
    );
    // The device that stalled may have come back too late for any part.
    expect(Math.max(...runJson.devices.map((device) => device.busy_share))).toBeGreaterThan(0.01);
    expect(runJson.devices.every(({ memory_peak_bytes }) => (memory_peak_bytes ?? 0) > 1e8)).toBe(true);
    expect(runJson.counts.tolerance).toBe(1e-5);
    expect(Math.max(...runJson.devices.map((device) => device.batchFillPercent ?? 0))).toBeGreaterThan(10);
    expect(runJson.devices.every(({ attention }) => attention.startsWith('ESM-2 '))).toBe(true);
    expect(log).toMatch(
      / info .+ \(cpu:\d\) is ready after \d+ s: ESM-2 .+ of memory, batches of 512 tokens$/m,
    );
    expect(log).toMatch(/ info The computer, with all its programs: [\d.]+ % busy, [\d.]+ GB$/m);
  });

  it('computes equal sequences once, to the same bytes as each time, whatever is killed', async () => {
    const input = join(await temporaryFolder(), 'copies.fa');
    const sample = (await readFile(SAMPLE, 'utf8')).split('>').slice(1, 13);
    const copies = [...sample, ...sample, ...sample.toReversed()];
    await writeFile(input, copies.map((record, i) => `>copy_${i}_${record}`).join(''));
    const inputs = [input];
    const marker = join(await temporaryFolder(), 'died');
    const large = { inputs, residuesPerPart: 1_000_000 };
    const once = await predict(testContext(), large);
    const each = await predict(testContext(), { ...large, embedEqualSequencesOnce: false });
    expect(each.tables).toEqual(once.tables);
    const counts = async ({ folder }: Outcome) =>
      (JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as RunJson).counts;
    expect(await counts(each)).toMatchObject({ frames_protein_repeated: 0 });
    const counted = await counts(once);
    expect(counted.frames_protein_repeated).toBeGreaterThanOrEqual(counted.frames / 2);
    // In smaller parts fewer copies meet; the answers are the same.
    const cut = await predict(testContext({ fault: `die_once:${marker}` }), { inputs });
    expect(codes(cut)).toContain('worker_died');
    expect(cut.tables).toEqual(once.tables);
  });

  it('scores embeddings of unusual size like any others, and says so once with numbers', async () => {
    const model = join(await temporaryFolder(), 'strict');
    const { paths } = testContext();
    await cp(join(paths.resources, 'demo-model'), model, { recursive: true });
    const file = join(model, 'model.json');
    const manifest = JSON.parse(await readFile(file, 'utf8')) as object;
    const norm_bands = { esm2: [1e6, 1e7], dnabert_s: [1e6, 1e7] };
    await writeFile(file, JSON.stringify({ ...manifest, norm_bands }));
    const strict = await predict(testContext(), { model });
    expect(strict.state).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    const plain = await undisturbed();
    expect(strict.tables).toEqual(plain.tables);
    const said = strict.notes.filter(({ code }) => code === 'norms_outside_band');
    expect(said).toMatchObject([{ level: 'warning' }]);
    const runJson = JSON.parse(await readFile(join(strict.folder, 'run.json'), 'utf8')) as RunJson;
    expect(said[0]?.message).toContain(`${runJson.counts.frames} of ${runJson.counts.frames} reading frames`);
    const range = {
      low: expect.any(Number) as number,
      high: expect.any(Number) as number,
      expected: [1e6, 1e7],
    };
    expect(runJson.counts).toMatchObject({
      frames_outside_norm_band: runJson.counts.frames,
      norms: { esm2: range, dnabert_s: range },
    });
    expect(runJson.remarks).toContainEqual(expect.objectContaining({ code: 'norms_outside_band' }));
    expect(codes(plain)).not.toContain('norms_outside_band');
  });

  it('handles no scorable frame, one record, and more workers than parts', async () => {
    const folder = await temporaryFolder();
    const stops = join(folder, 'stops.fa');
    await writeFile(stops, `>only_stops\n${'TAATTAATTAACTAGCTAG'.repeat(10)}\n`);
    const none = await predict(testContext(), { inputs: [stops] });
    expect(none.state).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    expect(none.tables['sequences.tsv']).toMatch(/\tnot_scored\tno_open_frame\t/);
    const one = await oneRecordAlone();
    expect(one.state).toMatchObject({ phase: 'done' });
    expect(one.tables['sequences.tsv']?.split('\n')).toHaveLength(3);
  });

  it('notices an input that changes during the run', async () => {
    const input = join(await temporaryFolder(), 'changing.fa');
    await writeFile(input, `>a\n${'GCC'.repeat(100)}\n`);
    const session = await makeRun(testContext(), { inputs: [input] });
    await writeFile(input, `>a\n${'GCA'.repeat(100)}\n`);
    unwrap(await session.start());
    expect(await session.whenIdle()).toMatchObject({ phase: 'paused', error: { code: 'input_changed' } });
    await writeFile(input, `>a\n${'GCC'.repeat(100)}\n`);
    expect((await session.start()).ok).toBe(true);
    expect(await session.whenIdle()).toMatchObject({ phase: 'done' });
    await session.close();
  });

  it('goes on without files that cannot be used, and lists them by their own names', async () => {
    const folder = await temporaryFolder();
    const [good, empty, changing] = ['good.fa', 'empty.fa', 'changing.fa'].map((name) => join(folder, name));
    if (!good || !empty || !changing) throw new Error('three names');
    await writeFile(good, ONE_RECORD);
    await writeFile(empty, '');
    await writeFile(changing, `>b\n${'GCC'.repeat(100)}\n`);
    const alone = await oneRecordAlone();
    const session = await makeRun(testContext(), { inputs: [changing, empty, good] });
    await writeFile(changing, `>b\n${'GCA'.repeat(100)}\n`);
    unwrap(await session.start());
    expect(await session.whenIdle()).toEqual({
      phase: 'done',
      failedParts: 0,
      failedRecords: 0,
      failedInputs: 2,
    });
    await session.close();
    const tables = await readTables(session.folder);
    expect(tables['failed_files.txt']?.split('\n')).toEqual([
      expect.stringMatching(/empty\.fa\|inspection\|\w+: /),
      expect.stringMatching(/changing\.fa\|reading\|input_changed: /),
      '',
    ]);
    expect(tables['viral_sequences.fna']).toEqual(alone.tables['viral_sequences.fna']);
    expect(tables['prediction_results.txt']).toEqual(alone.tables['prediction_results.txt']);
  });
});
