import { expect, it } from 'vitest';
import { resultsOf, type ResultOf } from '../../../contract/checks.ts';
import { unwrap } from '../../../contract/errors.ts';
import type { Command } from '../../environment/runCommand.ts';
import { outcome } from '../../environment/testing/fakePython.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
import { testContext } from '../../testing/testContext.ts';
import type { ChosenDevice } from '../chosenDevice.ts';
import { A100_AND_TURING } from '../testing/probeExamples.ts';
import { devicesToTest, keepResults, lastResults, runCheck } from './check.ts';
import { checkPrecision } from './trial.ts';

const environment = {
  interpreter: 'python',
  own: true,
  pythonVersion: '3.12',
  packages: { torch: '2.13.0' },
  source: '',
};
const driver = '580.95';
const place = () => ({
  environment,
  paths: { ...testContext().paths, dataDir: temporaryFolder() },
});
const row = (tokens: number, rate: number) => ({
  tokens_per_batch: tokens,
  esm2_residues_per_second: rate,
  dnabert_s_frames_per_second: 19_000,
  products_residues_per_second: 117_000,
});
const rows = [row(2048, 80_000), row(24_528, 100_000), row(32_768, 99_000)];

it('measures each device in the precision that suits it, continues when one fails, and stores the figures', async () => {
  const here = place();
  const commands: Command[] = [];
  const run = (command: Command) => {
    commands.push(command);
    const precision = command.args.at(-3);
    if (precision === 'fp16')
      return outcome({ ending: 'failed', stderr: 'Traceback\nRuntimeError: CUDA error' });
    const result = { precision, verdict: 'works', figures: { rows }, problem: null };
    return outcome({ stdout: JSON.stringify([result]) });
  };
  const check = { check: 'speed', devices: devicesToTest(A100_AND_TURING), driver, run } as const;
  expect(await lastResults(here, driver)).toEqual([]);
  const measured = unwrap(await runCheck(here, check));
  expect(commands.map(({ args, env }) => [...args.slice(-4, -2), env['CUDA_VISIBLE_DEVICES']])).toEqual([
    ['cuda', 'bf16', 'GPU-aaaa-a100'],
    ['cuda', 'fp16', 'GPU-bbbb-2080'],
    ['cpu', 'fp32', ''],
  ]);
  expect(measured.map(({ verdict, sentence }) => `${verdict} ${sentence}`)).toEqual([
    expect.stringMatching(/^works ESM-2: 100,000 residues per second, 85 %/),
    expect.stringContaining('no_answer The check stopped early. RuntimeError: CUDA error'),
    expect.stringMatching(/^works One core/),
  ]);
  expect(await lastResults(here, driver)).toEqual(measured.map((one) => ({ ...one, outdated: null })));
  // A processor has no driver.
  const newDriver = await lastResults(here, '999.1');
  expect(newDriver.map(({ outdated }) => outdated)).toEqual(['driver', 'driver', null]);
  const another = { ...here, environment: { ...environment, packages: { torch: '2.14.0' } } };
  expect((await lastResults(another, driver)).every(({ outdated }) => outdated === 'pytorch')).toBe(true);

  // A cancelled measurement does not replace a complete one.
  expect((await runCheck(here, { ...check, signal: AbortSignal.abort() })).ok).toBe(false);
  expect(await lastResults(here, driver)).toHaveLength(3);
  // Another one of the same devices does.
  unwrap(await runCheck(here, check));
  expect(await lastResults(here, driver)).toHaveLength(3);
});

const HASH = 'a'.repeat(64);
const gpu = (name: string): ChosenDevice => ({
  kind: 'cuda',
  id: `GPU-${name}`,
  index: 0,
  name,
  capability: [9, 0],
  precisions: ['fp8', 'bf16', 'fp16', 'fp32'],
  memoryTotalBytes: 1,
  memoryFreeBytes: 1,
});

const measured = (name: string, verdict: 'works' | 'differs', model = HASH): ResultOf<'precision'> => ({
  check: 'precision',
  model,
  device: { id: `GPU-${name}`, kind: 'cuda', name },
  checkedAt: '2026-11-28T12:00:00Z',
  seconds: 1,
  driver,
  pytorch: '2.13.0',
  precision: 'fp8',
  verdict,
  sentence: '5.1 % of the labels differ',
  wordings: [],
  problem: null,
  figures: {
    frames: 9476,
    difference_max: 0.4,
    flips: 486,
    flip_share: 0.05129,
    failed: 0,
  },
});

it('lets a run use FP8 only after it was checked with this model on each of its GPUs', async () => {
  const here = place();
  const allowed = (names: string[], precision: 'fp8' | 'bf16' = 'fp8', hash = HASH) =>
    checkPrecision(here, { hash }, precision, names.map(gpu));
  expect(await allowed(['H200'])).toMatchObject({ ok: false, error: { code: 'precision_unsupported' } });
  expect((await allowed(['H200'], 'bf16')).ok).toBe(true);

  await keepResults(here.paths, [measured('H200', 'differs')]);
  const refused = await allowed(['H200']);
  expect(refused.ok ? '' : refused.error.cause).toContain('5.1 %');

  await keepResults(here.paths, [measured('H200', 'works')]);
  expect((await allowed(['H200'])).ok).toBe(true);
  expect((await allowed(['H200', 'L4'])).ok).toBe(false);
  expect((await allowed(['H200'], 'fp8', 'b'.repeat(64))).ok).toBe(false);

  await keepResults(here.paths, [measured('L4', 'works'), measured('H200', 'differs', 'b'.repeat(64))]);
  expect((await allowed(['H200', 'L4'])).ok).toBe(true);
  expect(resultsOf(await lastResults(here, driver), 'precision')).toHaveLength(3);
});
