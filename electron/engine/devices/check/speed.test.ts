import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Command, CommandOutcome } from '../../environment/runCommand.ts';
import { temporaryFolder } from '../../testing/temporaryFolder.ts';
import { testContext } from '../../testing/testContext.ts';
import { A100_AND_TURING } from '../testing/probeExamples.ts';
import { bestRow, keptSpeed, measureSpeed } from './speed.ts';

const environment = {
  interpreter: 'python',
  own: true,
  pythonVersion: '3.12',
  packages: { torch: '2.13.0' },
  source: '',
};
const row = (tokens: number, rate: number) => ({
  tokens_per_batch: tokens,
  esm2_residues_per_second: rate,
  dnabert_s_frames_per_second: 19_000,
  products_residues_per_second: 117_000,
});
const rows = [row(2048, 80_000), row(24_528, 100_000), row(32_768, 99_000)];

it('measures each device in the precision that suits it, continues when one fails, and stores the figures for these packages', async () => {
  const paths = { ...testContext().paths, dataDir: join(await temporaryFolder(), 'data') };
  const commands: Command[] = [];
  const run = (command: Command) => {
    commands.push(command);
    const [, precision] = command.args.slice(-4);
    const outcome: CommandOutcome = {
      ending: precision === 'fp16' ? 'failed' : 'succeeded',
      exitCode: 0,
      stdout: JSON.stringify({
        precision,
        rows,
        versions: { torch: '2.13.0' },
      }),
      stderr: 'Traceback\nRuntimeError: CUDA error',
      summary: '',
    };
    return Promise.resolve(outcome);
  };
  expect(await keptSpeed(environment, paths)).toBeNull();
  const measured = await measureSpeed(environment, paths, A100_AND_TURING, 60, { run });
  expect(commands.map(({ args, env }) => [...args.slice(-4, -2), env['CUDA_VISIBLE_DEVICES']])).toEqual([
    ['cuda', 'bf16', 'GPU-aaaa-a100'],
    ['cuda', 'fp16', 'GPU-bbbb-2080'],
    ['cpu', 'fp32', ''],
  ]);
  expect(measured.map(({ problem }) => problem)).toEqual([
    null,
    expect.stringContaining('RuntimeError: CUDA error'),
    null,
  ]);
  // The figures that users send in include the versions.
  expect(measured[0]?.report).toMatchObject({ rows, versions: { torch: '2.13.0' } });
  expect(measured.map(bestRow)).toMatchObject([
    { precision: 'bf16', tokens_per_batch: 24_528 },
    null,
    { precision: 'fp32', tokens_per_batch: 24_528 },
  ]);

  expect(await keptSpeed(environment, paths)).toMatchObject({ devices: measured });
  const another = { ...environment, packages: { torch: '2.14.0' } };
  expect(await keptSpeed(another, paths)).toBeNull();

  // A cancelled measurement does not replace a complete one.
  await measureSpeed(environment, paths, A100_AND_TURING, 60, { run, signal: AbortSignal.abort() });
  expect(await keptSpeed(environment, paths)).toMatchObject({ devices: measured });
});
