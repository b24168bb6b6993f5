import { expect, it } from 'vitest';
import type { Command, CommandOutcome } from '../environment/runCommand.ts';
import { benchmarkDevices } from './benchmarkDevices.ts';
import { A100_AND_TURING } from './testing/probeExamples.ts';

const environment = { interpreter: 'python', own: true, pythonVersion: '3.12', packages: {}, source: '' };
const row = {
  tokens_per_batch: 24_528,
  esm2_residues_per_second: 100_000,
  dnabert_s_frames_per_second: 19_000,
  products_residues_per_second: 117_000,
};

it('measures each device in the precision that suits it, and goes on when one of them fails', async () => {
  const commands: Command[] = [];
  const measured = await benchmarkDevices(
    environment,
    A100_AND_TURING,
    60,
    () => undefined,
    (command) => {
      commands.push(command);
      const [kind, precision] = command.args.slice(-4);
      const outcome: CommandOutcome = {
        ending: precision === 'fp16' ? 'failed' : 'succeeded',
        exitCode: 0,
        stdout: JSON.stringify({
          type: 'benchmark',
          name: kind,
          precision,
          rows: [row],
          versions: { torch: '2.13.0' },
        }),
        stderr: 'Traceback\nRuntimeError: CUDA error',
        summary: '',
      };
      return Promise.resolve(outcome);
    },
  );
  expect(commands.map(({ args, env }) => [...args.slice(-4, -2), env['CUDA_VISIBLE_DEVICES']])).toEqual([
    ['cuda', 'bf16', 'GPU-aaaa-a100'],
    ['cuda', 'fp16', 'GPU-bbbb-2080'],
    ['cpu', 'fp32', ''],
  ]);
  expect(measured.map(({ problem }) => problem)).toEqual([null, 'RuntimeError: CUDA error', null]);
  // What is sent in names the versions.
  expect(measured[0]?.report).toMatchObject({ rows: [row], versions: { torch: '2.13.0' } });
});
