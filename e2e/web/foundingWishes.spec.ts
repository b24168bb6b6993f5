/**
 * What the documents that this project was founded on ask for by name, each with its document and lines, so that nobody
 * who tidies takes it away. It is checked where users meet it: in the window, on the terminal, in the files of a run.
 */
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import { expect, test } from '@playwright/test';
import { ended, virnucpro } from '../../electron/cli/testing/commandLineProcess.ts';
import { deviceLines, totalLine } from '../../electron/cli/output/progressText.ts';
import { createReporter } from '../../electron/cli/output/reporter.ts';
import type { PartDone } from '../../electron/contract/protocol/index.ts';
import type { DeviceLive } from '../../electron/contract/rpc/runs.ts';
import type { OpenRun } from '../../electron/engine/index.ts';
import { describeImbalance } from '../../electron/engine/run/progress/remarks.ts';
import { WorkerWatch } from '../../electron/engine/run/progress/workerWatch.ts';
import { REAL_PYTHON, SAMPLE } from '../../electron/engine/testing/realFiles.ts';
import { ProgressWatch } from '../../electron/engine/workers/deadlines.ts';
import { madeDevices } from '../../renderer/testing/memoryEngine/computer.ts';
import { RUN_IDS } from '../../renderer/testing/memoryEngine/runs.ts';
import { serveMemoryEngine } from '../../renderer/testing/serve.ts';

const GUIDE = 'GPU Optimization Guide';
const PITFALLS = 'GPU Optimization Pitfalls';
const SUMMARY = 'Research Summary';
const FLAGS = 'Command line of VirNucPro 2.0.0';

// "GPU 0: ████ 100% [250/250 files] | Mem: 14.2GB/16.0GB", and the figures of monitoring.
test(`the window has nine figures of each of eight GPUs on its first screen, under the overall bar (${GUIDE}, 221-243)`, async ({
  page,
}) => {
  const engine = await serveMemoryEngine({ devices: 8 });
  const run = engine.runs().find(({ runId }) => runId === RUN_IDS.running);
  const [input] = run?.plan.inputs ?? [];
  if (!run || !input) throw new Error('the memory engine has no run at work');
  const inputs = Array.from({ length: 40 }, (_, sample) => ({
    ...input,
    path: `/data/site_${sample + 1}.fa`,
  }));
  const samples = inputs.map((_, sample) => `site_${sample + 1}`);
  engine.changeRun(run.runId, { plan: { ...run.plan, inputs }, samples });
  await page.goto(`${engine.url}#/run/${RUN_IDS.running}/progress`);
  const overall = page.getByRole('progressbar', { name: 'Progress of the whole run' });
  await expect(overall).toBeInViewport({ ratio: 1 });
  const table = page.getByRole('region', { name: 'Devices' }).getByRole('table');
  const heads = ['Device', 'State', 'Of the run', 'Parts', 'Sequences/min', 'Speed over the run'];
  await expect(table.getByRole('columnheader')).toHaveText([
    ...heads,
    ...['Load', 'Memory', 'Temperature', 'Power'],
  ]);
  for (let index = 0; index < 8; index++) {
    const row = table.getByRole('row', { name: new RegExp(`^GPU ${index} `) });
    await expect(row).toBeInViewport({ ratio: 1 });
    await expect(row.getByRole('progressbar')).toBeVisible();
    await expect(row.locator('svg').last()).toBeVisible();
    const speed = index === 5 || index === 6 ? '–' : '[\\d,]+';
    const figures = [/.+/, /^[\d.]+ ?%$/, /^\d+$/, new RegExp(`^${speed}$`), /^$/];
    await expect(row.getByRole('cell')).toHaveText([
      ...figures,
      ...[/^\d+ ?%$/, /^23.0 of (141|48.0) GB$/, /^\d+ °C$/, /^\d+ W$/],
    ]);
  }
  const [bar, devices] = [await overall.boundingBox(), await table.boundingBox()];
  await expect(page.getByRole('main').getByRole('heading', { level: 2 }).first()).toHaveText('Devices');
  expect(devices?.y).toBeGreaterThan(bar?.y ?? Number.NaN);
  await engine.stop();
});

const PROGRESS: ReturnType<OpenRun['progress']> = {
  prepare: { finished: true, records: 1_000, bases: 500_000, frames: 6_000 },
  parts: { total: 250, done: 240, failed: 0, inWork: 8 },
  frames: { total: 6_000, done: 5_760 },
  residues: { total: 1_000_000, done: 960_000 },
  inputs: { total: 2, done: 1, failed: 0 },
  fraction: 0.96,
  elapsedSeconds: 60,
  remainingSeconds: { low: 8, high: 25 },
  residuesPerSecond: 800_000,
  unusualNorms: null,
};
const EIGHT: readonly DeviceLive[] = madeDevices(8).map((device, index) => ({
  ...device,
  ...(index === 7 ? { worker: { state: 'stalled', part: '000012' } } : {}),
  ...{ partsDone: 11, residuesDone: 120_000 },
  ...{ memoryUsedBytes: 14.2 * 2 ** 30, memoryTotalBytes: 16 * 2 ** 30 },
}));
const withoutGaps = (line: string): string => line.replaceAll(/ +/g, ' ').trim();

test(`the terminal has the nine figures of each GPU in its line, and those of the run below (${GUIDE}, 221-243)`, () => {
  const lines = deviceLines(EIGHT, PROGRESS).map(withoutGaps);
  expect(lines[0]).toBe(
    'GPU 0 NVIDIA H200 █░░░░░░░ 12 % 11 parts 14.2 of 16.0 GB 97 % 61 °C 412 W 2,460 sequences/min working',
  );
  expect(lines[7]).toMatch(/^GPU 7 .* stalled$/);
  expect(withoutGaps(totalLine(PROGRESS))).toBe(
    '96.0 % parts 240/250 frames 5,760/6,000 48,000 sequences/min elapsed 1 min left 10–25 sec',
  );
});

test(`with -v a log has a line of each GPU every ten seconds, without a terminal too (${GUIDE}, 193-206 and 251-255)`, async () => {
  const written: string[] = [];
  const write = mock.method(process.stderr, 'write', (text: unknown) => written.push(String(text)) > 0);
  mock.timers.enable({ apis: ['setInterval'] });
  const reporter = await createReporter('lines', true);
  const session = { progress: () => PROGRESS, deviceStates: () => EIGHT, clusterState: () => null };
  reporter.follow(session as unknown as OpenRun);
  mock.timers.tick(9_999);
  expect(written).toEqual([]);
  mock.timers.tick(1);
  reporter.end();
  mock.timers.reset();
  write.mock.restore();
  const lines = written.join('').split('\n').map(withoutGaps);
  expect(lines.filter((line) => /^GPU \d .* 14.2 of 16.0 GB /.test(line))).toHaveLength(8);
});

/** Runs a command as if it were the computer's first, and returns what it printed. */
const run = (...words: string[]) =>
  ended(virnucpro(words, { env: { VIRNUCPRO_DATA_DIR: test.info().outputPath('data') } }));
const RUN = ['--model', 'teaching', '--python', REAL_PYTHON];
const results = (): string => test.info().outputPath('results');
const fileOf = (name: string): string => readFileSync(test.info().outputPath(name), 'utf8');

test(`flags work as before; a run goes on without files that fail, names them and ends with 2 (${GUIDE}, 15, 25-68, 173-182, 214, 251-258 and 276)`, async () => {
  const [words, proteins, log] = ['words.fa', 'proteins.fa', 'virnucpro.log'].map((name) =>
    test.info().outputPath(name),
  ) as [string, string, string];
  writeFileSync(words, 'no sequences\n');
  writeFileSync(proteins, `>p\n${'MKVLAAGIVGLLLAQWSEEDRTKLPFHIVMNY'.repeat(9)}\n`);
  const flags = ['--output-dir', results(), '--esm-batch-size', '1024', '--keep-intermediate'];
  const unneeded =
    '--parallel --persistent-models --batch-size 256 --dnabert-batch-size 2048 --num-workers 4';
  flags.push(...unneeded.split(' '));
  const inputs = ['--input', SAMPLE, words, proteins];
  const { code, output } = await run('predict', ...inputs, ...flags, '-v', '--log-file', log, ...RUN);
  expect(code, output).toBe(2);
  expect(output).toContain('failed_files.txt');
  expect(fileOf('results/failed_files.txt').trimEnd().split('\n')).toEqual([
    expect.stringMatching(/words\.fa\|inspection\|not_sequence_file: .+/),
    expect.stringMatching(/proteins\.fa\|inspection\|looks_like_protein: .+/),
  ]);
  // What was computed is kept, and so are the files between.
  expect(fileOf('results/prediction_results.txt').split('\n').length).toBeGreaterThan(10);
  expect(readdirSync(join(results(), 'work', 'scores'))).not.toEqual([]);
  const logged = fileOf('virnucpro.log');
  for (const file of [words, proteins]) expect(logged).toMatch(new RegExp(`${file}.* left out .+`));
  // What each device was given, its memory, and the time that each file took.
  const logs = readdirSync(join(results(), 'logs')).map((name) => fileOf(`results/logs/${name}`));
  expect(logs.join('')).toMatch(/ engine assign 000000/);
  expect(logs.join('')).toMatch(/ info .+ \(cpu:0\) is ready .*[MG]B of memory/);
  expect(JSON.parse(fileOf('results/run.json'))).toMatchObject({
    plan: { tokens_per_batch: 1024 },
    inputs: [{ device_seconds: expect.any(Number) }],
  });
  expect((await run('predict', ...inputs, '--output-dir', results(), '--resume', ...RUN)).code).toBe(2);
});

test(`exit codes: 0 of good files, also with --quiet and without a word, 1 of a run that cannot begin, 3 of damage (${GUIDE}, 60 and 276; ${FLAGS}, exit codes)`, async () => {
  const quiet = await run('predict', SAMPLE, '--output-dir', results(), '--quiet', ...RUN);
  expect(quiet).toEqual({ code: 0, output: '' });
  expect((await run('predict', `${SAMPLE}.missing`, '--quiet', ...RUN)).code).toBe(1);
  appendFileSync(join(results(), 'sequences.tsv'), '\n');
  expect((await run('status', results(), '--verify')).code).toBe(3);
});

test(`a worker that stalls is shown before it is started again (${SUMMARY}, 70)`, () => {
  const limits = { helloMs: 1000, loadMs: 1000, silentMs: 60_000, stepFloorMs: 120_000 };
  const watch = new ProgressWatch(limits, 0);
  const beat = (now: number): void => {
    watch.message(now);
    watch.heartbeat({ step: 'computing', steps_done: 5, processor_seconds: 0 }, now);
  };
  let now = 0;
  for (; now <= limits.stepFloorMs; now += 2000) {
    beat(now);
    expect(watch.missed(now)).toBeUndefined();
    expect(watch.stalls(now)).toBe(now > limits.silentMs);
  }
  beat(now);
  expect(watch.missed(now)?.code).toBe('worker_stalled');
});

test(`a GPU that is a fifth slower than one of its kind is named (${PITFALLS}, 400; ${SUMMARY}, 70)`, () => {
  const gpus = ['a', 'b', 'c'].map(
    (id) => ({ id, name: 'H200', kind: 'cuda', facts: {}, switchedOff: null }) as const,
  );
  const done = (residues: number, index: number) => ({
    ...{ device: 'abc'.charAt(index), parts: 20, frames: 1, residues, seconds: 60 },
  });
  expect(describeImbalance(gpus, [1000, 790, 900].map(done))?.text).toContain('b was 21 % slower than a');
  expect(describeImbalance(gpus, [1000, 810, 900].map(done))).toBeNull();
  // Neither before each has computed for a minute, nor of different GPUs, nor of cores that other programs use too.
  const uneven = [1000, 100, 900].map(done);
  const early = uneven.map((one) => ({ ...one, seconds: 59 }));
  expect(describeImbalance(gpus, early)).toBeNull();
  const different = gpus.map((gpu) => ({ ...gpu, name: gpu.id }));
  const cores = gpus.map((gpu) => ({ ...gpu, kind: 'cpu' as const }));
  for (const devices of [different, cores]) expect(describeImbalance(devices, uneven)).toBeNull();
});

const GB = 1e9;
const part = (peak: number, allocated: number | null = null): PartDone =>
  ({
    ...{ esm2_batches: 10, esm2_tokens: 9_500 },
    ...{ peak_memory_bytes: peak * GB, peak_allocated_bytes: allocated === null ? null : allocated * GB },
  }) as PartDone;

function watched(
  count: number,
  each: (index: number) => PartDone,
): { watch: WorkerWatch; remarks: string[] } {
  const watch = new WorkerWatch({ id: 'GPU-1', name: 'H200' }, 1_000);
  const remarks = Array.from({ length: count }, (_, index) => {
    watch.take(each(index));
    return watch.remark()?.code ?? [];
  });
  return { watch, remarks: remarks.flat() };
}

test(`how full batches are is measured (${PITFALLS}, 127)`, () => {
  const steady = watched(40, (index) => part(7 + (index % 2) / 10, 6.5));
  expect(steady.watch.figures()).toEqual({
    batchFillPercent: 95,
    fragmentedPercent: 7.1,
    memoryGrowthPercent: 0,
  });
  expect(steady.remarks).toEqual([]);
});

test(`memory of a worker that grows is remarked on once (${PITFALLS}, 603-640)`, () => {
  expect(watched(40, (index) => part(index === 30 ? 20 : 4)).remarks).toEqual([]);
  const growing = watched(60, (index) => part(4 + index / 10));
  expect(growing.remarks).toEqual(['memory_grows']);
  // From at most 4.9 GB in the first ten parts to at least 9 GB in the last ten.
  expect(growing.watch.figures().memoryGrowthPercent).toBe(83.7);
  growing.watch.restarted();
  growing.watch.take(part(10));
  expect(growing.watch.figures().memoryGrowthPercent).toBeNull();
});

test(`memory that is held and not used is remarked on once (${PITFALLS}, 82 and 127)`, () => {
  const held = watched(30, () => part(8, 4));
  expect(held.remarks).toEqual(['memory_fragmented']);
  expect(held.watch.figures().fragmentedPercent).toBe(50);
  expect(watched(30, () => part(8)).watch.figures().fragmentedPercent).toBeNull();
});
