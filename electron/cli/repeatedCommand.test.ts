import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  predictCommand as commandToRepeat,
  type RepeatableRun,
  quotedForShell,
} from '../contract/terminal/predictCommand.ts';
import { runRequestSchema } from '../contract/rpc/runs.ts';
import { slurmPlace, slurmScript } from '../contract/terminal/slurmScript.ts';
import { whereAsked } from './clusterFlags.ts';
import { predictCommand } from './predictCommand.ts';
import { temporaryFolder } from '../engine/testing/temporaryFolder.ts';

const INPUTS = ["/data/gut's run/a b.fasta", '/data/$(touch x)/`Ünï` "q".fa', '/data/plain.fa.gz'];

/** What every command states, besides its model. */
const ALWAYS = {
  outputDir: "/results/Ann's gut_again",
  chunkLength: [500],
  precision: 'bf16',
  tokensPerBatch: 33_792,
  residuesPerPart: 65_536,
  order: 'sample',
  embedEqualSequencesOnce: true,
};

function made(change: Partial<RepeatableRun['plan']> = {}, request = {}): RepeatableRun {
  return {
    plan: {
      inputs: INPUTS.map((path) => ({ path })),
      model: { name: '500', folder: '/models/500', notice: null },
      chunkLength: 500,
      precision: 'bf16',
      tokensPerBatch: 33_792,
      residuesPerPart: 65_536,
      order: 'sample',
      embedEqualSequencesOnce: true,
      embeddings: null,
      ...change,
    },
    request: runRequestSchema.parse({ inputs: INPUTS, model: '500', ...request }),
    folder: String.raw`/results/Ann's gut\/`,
  };
}

/**
 * The arguments that a program receives when a shell runs that line, and what `predict` makes of them. Its
 * standard input goes into the file `input`.
 */
async function understood(
  line: string,
  input?: string,
): Promise<{ inputs: string[]; flags: Record<string, unknown> }> {
  const keep = input === undefined ? '' : `cat /dev/stdin >${quotedForShell(input)};`;
  const words = execFileSync('/bin/sh', ['-c', `virnucpro() { ${keep} printf '%s\\0' "$@"; }; ${line}`]);
  const root = new Command().exitOverride();
  let answer = { inputs: [] as string[], flags: {} as Record<string, unknown> };
  predictCommand(root).action((inputs: string[], flags: Record<string, unknown>) => {
    answer = { inputs, flags };
  });
  await root.parseAsync(words.toString('utf8').split('\0').slice(0, -1), { from: 'user' });
  return answer;
}

describe.skipIf(process.platform === 'win32')('the command that repeats a run', () => {
  it('passes every path and every choice through a shell unchanged', async () => {
    const run = made(
      {
        embedEqualSequencesOnce: false,
        embeddings: 'fp32',
        secondLook: { chunkLength: 300 },
        repairs: ['read_u_as_t'],
        minLength: 700,
        geneticCode: 15,
      },
      {
        devices: '0,1',
        keepWork: true,
        gpuMemoryBytes: 7_500_000_000,
        reuseEmbeddings: '/old',
        patience: 3,
        tables: 'parquet',
      },
    );
    expect(await understood(commandToRepeat(run))).toEqual({
      inputs: INPUTS,
      flags: {
        ...ALWAYS,
        model: '500',
        chunkLength: [500, 300],
        embedEqualSequencesOnce: false,
        embeddings: 'fp32',
        repair: ['read_u_as_t'],
        minLength: 700,
        geneticCode: 15,
        devices: '0,1',
        gpuMemory: 7_500_000_000,
        reuseEmbeddings: '/old',
        patience: 3,
        keepWork: true,
        tables: 'parquet',
      },
    });
    for (const cpus of [0, 2]) {
      const where = { kind: 'ray', address: 'head.local:6379', shares: 12, cpus } as const;
      const { flags } = await understood(commandToRepeat(made({}, { where })));
      expect(whereAsked(flags, undefined)).toEqual(where);
    }
  });

  it('prepares shares again, in words without more quotes than they need', () => {
    const command = (on_processors: boolean) =>
      commandToRepeat({
        ...made(
          { inputs: [{ path: '/data/a.fa' }] },
          { where: { kind: 'shares', shares: 4, on_processors } },
        ),
        folder: '/results/gut',
      });
    expect(command(true)).toBe(`${command(false)} --processors`);
    expect(command(false)).toBe(
      'virnucpro prepare /data/a.fa --output-dir /results/gut_again --model 500 --chunk-length 500 --precision bf16 ' +
        '--tokens-per-batch 33792 --residues-per-part 65536 --order sample',
    );
  });

  it('includes the batch script of a SLURM cluster, even if one of its lines looks like the end marker', async () => {
    const own = `END_OF_SCRIPT\necho "$HOME" '\\'\n`;
    const submitted = slurmPlace(slurmScript(['--array=1-3'], false, ['program']) + own);
    const onProcessors = slurmPlace(slurmScript(['--array=1-3'], true, ['program']) + own);
    for (const where of [submitted, onProcessors]) {
      if (where === null) throw new Error('no script can be made');
      const script = join(temporaryFolder(), 'script');
      const { flags } = await understood(commandToRepeat(made({}, { where })), script);
      expect(flags).toMatchObject({ slurm: '/dev/stdin' });
      expect(whereAsked({ ...flags, slurm: script }, undefined)).toEqual(where);
    }
  });

  it('states every choice that affects results and no other, and names the teaching model as such', async () => {
    const teaching = made({
      model: { name: 'teaching', folder: '/models/teaching', notice: 'no biological meaning' },
    });
    const flags = { ...ALWAYS, model: 'teaching' };
    expect(await understood(commandToRepeat(teaching))).toEqual({ inputs: INPUTS, flags });
  });
});
