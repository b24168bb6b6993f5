import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { unwrap } from '../../../contract/errors.ts';
import type { Command, CommandOutcome } from '../../environment/runCommand.ts';
import { outcome } from '../../environment/testing/fakePython.ts';
import { offeredPrecisions, type ProbeResult } from '../../../contract/protocol/index.ts';
import { choosePrecision } from '../choosePrecision.ts';
import { computerChecks } from '../computerChecks.ts';
import { leftOutRemark, selectDevices } from '../selectDevices.ts';
import { A100_AND_TURING, NO_GPU } from '../testing/probeExamples.ts';
import { checkDevices, checkDevicesOnce, withLastTest } from './trial.ts';
import { APP_PATHS } from '../../testing/realFiles.ts';
import { temporaryFolder, testContext } from '../../testing/testContext.ts';

const environment = { interpreter: 'python', own: true, pythonVersion: '3.12', packages: {}, source: '' };

const place = () => ({ environment, paths: { ...APP_PATHS, dataDir: temporaryFolder() } });

const cpuMemory = { sharedBytes: 0, perWorkerBytes: 1 };

/** The devices that a run would use, and the precision that it would compute in. */
function choose(devices: string, precision: 'auto' | 'bf16' | 'fp32', probe: ProbeResult) {
  const selected = unwrap(selectDevices(devices, probe, { cpuMemory }));
  return { selected, precision: choosePrecision(precision, selected) };
}

/**
 * Answers for each device with these differences, or like one whose driver crashes the process. `rates`:
 * passes per second in each precision.
 */
function answering(
  differences: Record<string, number | 'dies' | Record<string, number>>,
  rates: Record<string, number> = {},
) {
  const commands: Command[] = [];
  const run = (command: Command): Promise<CommandOutcome> => {
    commands.push(command);
    const [kind = '', precisions = ''] = command.args.slice(-2);
    const found = differences[command.env['CUDA_VISIBLE_DEVICES'] || kind] ?? 0;
    if (found === 'dies')
      return outcome({
        ending: 'failed',
        stderr: 'Traceback\nRuntimeError: CUDA error: an illegal memory access',
      });
    const results = precisions.split(',').map((precision) => {
      const difference = typeof found === 'number' ? found : (found[precision] ?? 0);
      return {
        precision,
        verdict: difference <= 0.02 ? 'works' : 'differs',
        figures: { difference, allowed: 0.02, passes_per_second: rates[precision] ?? 1 },
        problem: null,
      };
    });
    return outcome({ stdout: JSON.stringify(results) });
  };
  return { run, commands };
}

function card(devices: Awaited<ReturnType<typeof checkDevices>>) {
  const facts = { environment: { ok: true, value: environment } as const, probe: null, models: null };
  return computerChecks({ ...facts, diskFreeBytes: null, devices }).find(({ id }) => id === 'computing');
}

it('tests each device in the precisions that it is offered for, pinned to it', async () => {
  const { run, commands } = answering({});
  const devices = await checkDevices(place(), A100_AND_TURING, run);
  expect(commands.map(({ args, env }) => [...args.slice(-2), env['CUDA_VISIBLE_DEVICES']])).toEqual([
    ['cuda', 'bf16,fp16,fp32', 'GPU-aaaa-a100'],
    ['cuda', 'fp16,fp32', 'GPU-bbbb-2080'],
    ['cpu', 'fp32', ''],
  ]);
  expect(card(devices)).toMatchObject({
    status: 'good',
    sentence: expect.stringMatching(/A100.*BF16, FP16, FP32.*agree/) as string,
  });
});

it.each([
  [
    'computes wrongly, with the precision',
    { 'GPU-bbbb-2080': 0.9 },
    /RTX 2080 Ti in FP16: The results differ by 0\.9/,
  ],
  ['crashes the process', { 'GPU-aaaa-a100': 'dies' }, /A100.*illegal memory access/],
] as const)('names a device that %s', async (_, differences, sentence) => {
  const { run } = answering(differences);
  expect(card(await checkDevices(place(), A100_AND_TURING, run))).toMatchObject({
    status: 'bad',
    sentence: expect.stringMatching(sentence) as string,
  });
});

it('is done once for the same packages, driver and devices', async () => {
  const here = place();
  const { run, commands } = answering({});
  const first = await checkDevicesOnce(here, NO_GPU, run);
  expect(await checkDevicesOnce(here, NO_GPU, run)).toMatchObject(first);
  expect(commands).toHaveLength(1);
  await checkDevicesOnce(
    { ...here, environment: { ...environment, packages: { torch: '2.14.0' } } },
    NO_GPU,
    run,
  );
  expect(commands).toHaveLength(2);
});

it('lets a processor with BF16 instructions use the precision in which it was faster', async () => {
  const here = place();
  const probe: ProbeResult = { ...NO_GPU, cpu: { ...NO_GPU.cpu, precisions: ['bf16', 'fp32'] } };
  const chosen = async () => choose('auto', 'auto', await withLastTest(here, probe)).precision;
  expect(await chosen()).toEqual({ ok: true, value: 'bf16' });
  for (const [bf16, fp32, expected] of [
    [9, 30, 'fp32'],
    [90, 30, 'bf16'],
  ] as const) {
    const rates = { bf16, fp32 };
    await rm(join(here.paths.dataDir, 'checks.json'), { force: true });
    await checkDevicesOnce(here, probe, answering({}, rates).run);
    expect(await chosen()).toEqual({ ok: true, value: expected });
  }
});

it('no longer offers a precision in which a device failed, and says so before a run', async () => {
  const here = place();
  const trial = async (differences: Parameters<typeof answering>[0], probe = A100_AND_TURING) => {
    await checkDevicesOnce(here, probe, answering(differences).run);
    return withLastTest(here, probe);
  };
  const one = await trial({ 'GPU-aaaa-a100': { bf16: 0.9 } });
  expect(one.gpus.map((gpu) => [offeredPrecisions(gpu), gpu.blocked_by])).toEqual([
    [['fp16', 'fp32'], null],
    [['fp16', 'fp32'], null],
  ]);
  expect(choose('0', 'bf16', one).precision).toMatchObject({
    error: {
      code: 'precision_unsupported',
      cause: expect.stringMatching(/A100.*failed the test computation in bf16: The results differ/) as string,
      nextStep: expect.stringMatching(/Choose fp16, fp32, or leave this device out/) as string,
    },
  });
  expect(choose('0', 'auto', one).precision).toEqual({ ok: true, value: 'fp16' });
  // If one device prefers a precision in which another failed, both use one that they both support.
  const other = await trial({ 'GPU-aaaa-a100': { fp16: 0.9 } });
  expect(choose('auto', 'auto', other).precision).toEqual({ ok: true, value: 'fp32' });

  const dead = await trial({ 'GPU-aaaa-a100': 'dies' });
  expect(dead.gpus[0]?.blocked_by).toBe('trial');
  const { selected } = choose('auto', 'auto', dead);
  expect(selected).toMatchObject([{ id: 'GPU-bbbb-2080' }]);
  expect(leftOutRemark('auto', dead, selected)?.text).toMatch(/left out.*A100.*failed the test/);
  expect(selectDevices('0', dead, { cpuMemory })).toMatchObject({ error: { code: 'device_blocked' } });

  // Nothing can replace the processor: a run is refused before it starts.
  await rm(join(here.paths.dataDir, 'checks.json'));
  const processor = await trial({ cpu: 'dies' }, NO_GPU);
  for (const [devices, precision] of [
    ['auto', 'auto'],
    ['cpu:2', 'fp32'],
  ] as const)
    expect(choose(devices, precision, processor).precision).toMatchObject({
      error: {
        code: 'precision_unsupported',
        cause: expect.stringMatching(
          /The processor failed the test computation in fp32: .*illegal memory access/,
        ) as string,
        nextStep: expect.stringMatching(/computer check.*try it again/) as string,
      },
    });
  expect(choose('auto', 'auto', await trial({}, NO_GPU)).precision).toEqual({ ok: true, value: 'fp32' });

  // A precision that passes the next test is offered again.
  expect((await trial({})).gpus).toEqual(A100_AND_TURING.gpus);
});

it('finds that the processor of the tests computes correctly', async () => {
  const here = { ...place(), environment: testContext().environment };
  expect(await checkDevices(here, NO_GPU)).toMatchObject([{ precision: 'fp32', verdict: 'works' }]);
});
