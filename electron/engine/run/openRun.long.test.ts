import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../store/types.ts';
import { SAMPLE, temporaryFolder, testContext, WITHOUT_PYTHON } from '../testing/testContext.ts';
import { codes, makeRun, predict, runJsonOf, undisturbed } from './testing/realRuns.ts';

describe.skipIf(WITHOUT_PYTHON)('a run whose workers fail, hang or surprise', () => {
  it('bisects a part that kills every worker down to the responsible chunk, and scores the rest', async () => {
    const residues = 'MKTAYIAKQR';
    const poison = 'ATGAAAACCGCCTACATCGCCAAACAGCGC';
    const poisoned = join(temporaryFolder(), 'poisoned.fa');
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
    const [header = '', ...rows] = (outcome.tables['sequences.tsv'] ?? '').trimEnd().split('\n');
    const columns = header.split('\t');
    expect(rows).toHaveLength(12);
    for (const row of rows) {
      const cells = row.split('\t');
      const call = cells[columns.indexOf('prediction')];
      expect(call, row).toMatch(cells[0] === 'seq_7' ? /^failed$/ : /^(virus|others)$/);
    }
    expect(outcome.tables['failed_files.txt']).toContain('|');
    expect(outcome.tables['failed_records.tsv']).toContain('seq_7');
  });

  it('detects a worker that stalls, and measures its time correctly although the clock is set back', async () => {
    const session = await makeRun(testContext({ fault: 'stalled', deadlines: { stepFloorMs: 1500 } }));
    expect((await session.start()).ok).toBe(true);
    // A message of a process may arrive just before or just after the clock jumps.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => new Date().getTime() - 7_200_000);
    try {
      expect(await session.whenIdle()).toMatchObject({
        phase: 'paused',
        error: { code: 'no_usable_device' },
      });
      expect(session.progress().elapsedSeconds).toBeGreaterThan(1.5);
      // The two hours must not be counted.
      expect(session.progress().elapsedSeconds).toBeLessThan(3600);
    } finally {
      clock.mockRestore();
      await session.close();
    }
  });

  it('reports stalled workers and missing kernels in log and run.json, which has the performance of devices', async () => {
    const marker = join(temporaryFolder(), 'stalled');
    const context = testContext({
      fault: `stall_once:${marker},library_print,general_kernels:no fast kernels here`,
      deadlines: { stepFloorMs: 1500 },
    });
    const outcome = await predict(context, { devices: 'cpu:2' });
    expect(outcome.state).toMatchObject({ phase: 'done' });
    expect(outcome.tables).toEqual((await undisturbed()).tables);
    const note = outcome.notes.find(({ code }) => code === 'worker_stalled');
    const log = await readFile(join(outcome.folder, 'logs', 'run.log'), 'utf8');
    expect(log).toContain(` warning ${note?.message}`);
    expect(log).toMatch(/The run is done/);
    const runJson = await runJsonOf(outcome);
    expect(runJson.remarks).toContainEqual(
      expect.objectContaining({ code: note?.code, message: note?.message }),
    );
    expect(log).toMatch(/ warning .*no fast kernels here/);
    expect(runJson.remarks.map(({ message }) => message).join()).toContain('no fast kernels here');
    // The stalled device may have come back too late for any part.
    expect(Math.max(...runJson.devices.map(({ busy_share }) => busy_share ?? 0))).toBeGreaterThan(0.01);
    expect(runJson.devices.every(({ memory_peak_bytes }) => (memory_peak_bytes ?? 0) > 1e8)).toBe(true);
    expect(runJson.counts.tolerance).toBe(1e-5);
    const facts = runJson.devices as readonly JsonObject[];
    expect(Math.max(...facts.map(({ batchFillPercent }) => Number(batchFillPercent)))).toBeGreaterThan(10);
    for (const { attention } of facts) expect(attention).toMatch(/^ESM-2 /);
    expect(log).toMatch(
      / info .+ \(cpu:\d\) is ready after [^:]+: ESM-2 .+ of memory, batches of [\d,]+ tokens$/m,
    );
  });

  it('computes equal sequences once, with the same bytes as when computed each time, whatever is killed', async () => {
    const input = join(temporaryFolder(), 'copies.fa');
    const sample = (await readFile(SAMPLE, 'utf8')).split('>').slice(1, 13);
    const copies = [...sample, ...sample, ...sample.toReversed()];
    await writeFile(input, copies.map((record, i) => `>copy_${i}_${record}`).join(''));
    const inputs = [input];
    const marker = join(temporaryFolder(), 'died');
    const large = { inputs, residuesPerPart: 1_000_000 };
    const once = await predict(testContext(), large);
    const each = await predict(testContext(), { ...large, embedEqualSequencesOnce: false });
    expect(each.tables).toEqual(once.tables);
    expect((await runJsonOf(each)).counts).toMatchObject({ frames_protein_repeated: 0 });
    const { counts } = await runJsonOf(once);
    expect(counts.frames_protein_repeated).toBeGreaterThanOrEqual(counts.frames / 2);
    // Smaller parts contain fewer copies; the answers are the same.
    const cut = await predict(testContext({ fault: `die_once:${marker}` }), { inputs });
    expect(codes(cut)).toContain('worker_died');
    expect(cut.tables).toEqual(once.tables);
  });

  it('scores embeddings of unusual size like any others, and reports them once with numbers', async () => {
    const model = join(temporaryFolder(), 'strict');
    const { paths } = testContext();
    await cp(join(paths.resources, 'teaching-model'), model, { recursive: true });
    const file = join(model, 'model.json');
    const manifest = JSON.parse(await readFile(file, 'utf8')) as object;
    const norm_bands = { esm2: [1e6, 1e7], dnabert_s: [1e6, 1e7] };
    await writeFile(file, JSON.stringify({ ...manifest, norm_bands }));
    const strict = await predict(testContext(), { model });
    expect(strict.state).toEqual({ phase: 'done', failedParts: 0, failedRecords: 0 });
    const plain = await undisturbed();
    expect(strict.tables).toEqual(plain.tables);
    const warnings = strict.notes.filter(({ code }) => code === 'norms_outside_band');
    expect(warnings).toMatchObject([{ level: 'warning' }]);
    const runJson = await runJsonOf(strict);
    expect(warnings[0]?.message).toContain(
      `${runJson.counts.frames} of ${runJson.counts.frames} reading frames`,
    );
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
});
