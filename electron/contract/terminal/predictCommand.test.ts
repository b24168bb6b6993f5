import { expect, it } from 'vitest';
import { runRequestSchema } from '../rpc/runs.ts';
import { predictCommand, type RepeatableRun } from './predictCommand.ts';

const PLAN: RepeatableRun['plan'] = {
  inputs: [{ path: '/data/a.fa' }, { path: '/data/b.fa' }],
  model: { name: '300', folder: '/models/300', notice: null },
  chunkLength: 300,
  precision: 'bf16',
  tokensPerBatch: 33_792,
  residuesPerPart: 65_536,
  order: 'sample',
  embedEqualSequencesOnce: true,
  embeddings: null,
};

/** What follows the choices that every command states. */
function commandOf(plan: Partial<RepeatableRun['plan']>, request: object, folder = '/results/gut'): string {
  const asked = runRequestSchema.parse({ inputs: ['/data/a.fa'], model: '300', ...request });
  return predictCommand({ plan: { ...PLAN, ...plan }, request: asked, folder });
}

const COMMON =
  '/data/a.fa /data/b.fa --output-dir /results/gut_again --model 300 --chunk-length 300 ' +
  '--precision bf16 --tokens-per-batch 33792 --residues-per-part 65536 --order sample';
const RAY = { kind: 'ray', address: 'head:6379', shares: 12 } as const;

it.each<[string, Partial<RepeatableRun['plan']>, object]>([
  ['predict COMMON', {}, {}],
  [
    'predict COMMON --no-embed-equal-sequences-once --repair read_u_as_t --min-length 500 --genetic-code 15 --embeddings fp16',
    {
      embedEqualSequencesOnce: false,
      repairs: ['read_u_as_t'],
      minLength: 500,
      geneticCode: 15,
      embeddings: 'fp16',
    },
    {},
  ],
  [
    'predict COMMON --reuse-embeddings /old --devices 0,1 --gpu-memory 7.5 --patience 3 --keep-work',
    {},
    {
      reuseEmbeddings: '/old',
      devices: '0,1',
      gpuMemoryBytes: 7.5e9,
      patience: 3,
      keepWork: true,
    },
  ],
  ['prepare COMMON', {}, { where: { kind: 'shares', shares: 4, on_processors: false } }],
  ['prepare COMMON --processors', {}, { where: { kind: 'shares', shares: 4, on_processors: true } }],
  ['predict COMMON --ray head:6379 --shares 12', {}, { where: { ...RAY, cpus: 0 } }],
  ['predict COMMON --ray head:6379 --shares 12 --cpus 2', {}, { where: { ...RAY, cpus: 2 } }],
])('repeats a run by %s', (command, plan, request) => {
  expect(commandOf(plan, request)).toBe(`virnucpro ${command.replace('COMMON', COMMON)}`);
});

it('passes the batch script to the standard input, whatever its lines are', () => {
  const where = { kind: 'slurm', shares: 2, on_processors: false };
  const command = (script: string) => commandOf({}, { where: { ...where, script } });
  expect(command('#!/bin/bash\necho "$1"\n')).toBe(
    `virnucpro predict ${COMMON} --slurm /dev/stdin <<'END_OF_SCRIPT'\n#!/bin/bash\necho "$1"\nEND_OF_SCRIPT`,
  );
  expect(command('END_OF_SCRIPT\nEND_OF_SCRIPT_\n\n')).toBe(
    `virnucpro predict ${COMMON} --slurm /dev/stdin <<'END_OF_SCRIPT__'\n` +
      'END_OF_SCRIPT\nEND_OF_SCRIPT_\n\nEND_OF_SCRIPT__',
  );
});

it('puts the results beside the run, also where its path ends in separators', () => {
  expect(commandOf({}, {}, 'D:\\runs\\gut\\/')).toContain(String.raw` --output-dir 'D:\runs\gut_again' `);
  expect(commandOf({}, {}, "/runs/Ann's gut")).toContain(` --output-dir '/runs/Ann'\\''s gut_again' `);
});
