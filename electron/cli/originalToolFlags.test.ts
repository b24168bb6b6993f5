import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { PredictFlags } from './commands/run/predict.ts';
import { predictCommand } from './predictCommand.ts';

/** Parses the flags of `predict`. */
async function parse(...words: string[]): Promise<PredictFlags> {
  const root = new Command().exitOverride();
  let flags: PredictFlags = {};
  predictCommand(root).action((_inputs: string[], options: PredictFlags) => {
    flags = options;
  });
  await root.parseAsync(['predict', 'a.fa', ...words], { from: 'user' });
  return flags;
}

describe('flags of the original tool', () => {
  it.each<[string[], PredictFlags]>([
    [['-m', '300'], { model: '300' }],
    [['--model-type', 'custom', '--model-path', 'head.pth'], { model: 'custom', modelPath: 'head.pth' }],
    [['-p', 'head.pth'], { modelPath: 'head.pth' }],
    [['-e', '300'], { chunkLength: 300 }],
    [['--expected-length', '300'], { chunkLength: 300 }],
    [['-o', 'out'], { outputDir: 'out' }],
    [['--output-dir', 'out'], { outputDir: 'out' }],
    [['-d', 'cuda:1'], { devices: 'cuda:1' }],
    [['--device', 'cpu'], { devices: 'cpu' }],
    [['--gpus', '2,3'], { devices: '2,3' }],
    [['-k'], { keepWork: true }],
    [['--keep-intermediate'], { keepWork: true }],
    [['--resume'], { resume: true }],
    [['--input', 'a.fa', 'b.fa'], { input: ['a.fa', 'b.fa'] }],
    [['--esm-batch-size', '2048'], { tokensPerBatch: 2048 }],
    [['-f'], { force: true }],
    [['--force'], { force: true }],
  ])('%j is accepted', async (words, expected) => {
    expect(await parse(...words)).toMatchObject(expected);
  });
});
