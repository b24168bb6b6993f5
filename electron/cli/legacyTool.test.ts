import { Command } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PredictFlags } from './commands/run/predict.ts';
import { legacyDevice, RETIRED_COMMANDS, RETIRED_PREDICT_FLAGS } from './legacyTool.ts';
import { predictCommand } from './predictCommand.ts';

/** Parses the flags of `predict` and answers with what came of them and what was said. */
async function parse(...words: string[]): Promise<{ flags: PredictFlags; said: string }> {
  const said: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  const root = new Command().exitOverride();
  let flags: PredictFlags = {};
  predictCommand(root).action((_inputs: string[], options: PredictFlags) => {
    flags = options;
  });
  await root.parseAsync(['predict', 'a.fa', ...words], { from: 'user' });
  return { flags, said: said.join('') };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('flags of the earlier tool', () => {
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
  ])('%j is understood', async (words, expected) => {
    expect((await parse(...words)).flags).toMatchObject(expected);
  });

  it.each(RETIRED_PREDICT_FLAGS.map(({ flags, says }) => [flags, says]))(
    '%s is answered',
    async (flags, says) => {
      const takesValue = flags.includes('<');
      for (const name of flags.replace(/ <.*/, '').split(', ')) {
        const { said } = await parse(name, ...(takesValue ? ['4'] : []));
        expect(said).toContain(says);
        expect(said.trim().split('\n')).toHaveLength(1);
      }
    },
  );

  it('leaves no flag of the earlier tool unanswered', () => {
    const earlier = (
      '--model-type --model-path --expected-length --output-dir --device --batch-size --num-workers ' +
      '--keep-intermediate --resume --force --no-progress --dnabert-batch-size --parallel --v1-fallback --v1-attention ' +
      '--gpus --esm-batch-size --threads --merge-threads --skip-checkpoint-validation --force-resume ' +
      '--dataloader-workers --pin-memory --expandable-segments --cache-clear-interval --cuda-streams ' +
      '--no-cuda-streams --persistent-models --verbose --quiet --log-file --config'
    ).split(' ');
    const shared = ['--no-progress', '--verbose', '--quiet', '--log-file'];
    const known = predictCommand(new Command()).options.map(({ long }) => long);
    expect(earlier.filter((flag) => !known.includes(flag) && !shared.includes(flag))).toEqual([]);
  });

  it('names a replacement for every command that is gone', () => {
    expect(Object.keys(RETIRED_COMMANDS)).toEqual([
      'profile',
      'utils generate-config',
      'utils validate-checkpoints',
    ]);
    expect(legacyDevice('cuda')).toBe('auto');
    expect(legacyDevice('cuda:1')).toBe('cuda:1');
  });
});
