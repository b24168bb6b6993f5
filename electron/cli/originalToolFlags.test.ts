import { devNull } from 'node:os';
import { Command, Option } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PredictFlags } from './commands/run/predict.ts';
import { common, passOn } from './commonFlags.ts';
import { CONFIG_FLAG, ORIGINAL_FLAGS } from './originalToolFlags.ts';
import { predictCommand } from './predictCommand.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Parses the flags of `predict`: what it would do, and the lines that it says before. */
async function parse(before: string[], ...words: string[]): Promise<{ flags: PredictFlags; said: string[] }> {
  vi.stubEnv('VIRNUCPRO_LOG_LEVEL', 'info');
  const said: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said.push(...String(text).trimEnd().split('\n'));
    return true;
  });
  const root = common(new Command('virnucpro'))
    .exitOverride()
    .enablePositionalOptions()
    .addOption(new Option(CONFIG_FLAG))
    .hook('preAction', passOn);
  let flags: PredictFlags | undefined;
  common(predictCommand(root)).action((_inputs: string[], options: PredictFlags) => {
    flags = options;
  });
  await root.parseAsync([...before, 'predict', 'a.fa', ...words], { from: 'user' });
  if (flags === undefined) throw new Error('The run did not begin');
  return { flags, said };
}

describe('flags of the original tool', () => {
  it.each<[string[], PredictFlags]>([
    [['-m', '300'], { model: '300' }],
    [['--model-type', 'custom', '--model-path', 'head.pth'], { model: 'custom', modelPath: 'head.pth' }],
    [['-p', 'head.pth'], { modelPath: 'head.pth' }],
    [['-e', '300'], { chunkLength: [300] }],
    [['--expected-length', '300'], { chunkLength: 300 }],
    [['-o', 'out'], { outputDir: 'out' }],
    [['--output-dir', 'out'], { outputDir: 'out' }],
    [['-d', 'cuda:1'], { devices: 'cuda:1' }],
    [['--device', 'cpu'], { devices: 'cpu' }],
    [['--gpus', '2,3'], { devices: '2,3' }],
    [['-t', '4'], { devices: 'auto:4' }],
    [['-k'], { keepWork: true }],
    [['--keep-intermediate'], { keepWork: true }],
    [['--resume'], { resume: true }],
    [['--input', 'a.fa', 'b.fa'], { input: ['a.fa', 'b.fa'] }],
    [['--esm-batch-size', '2048'], { tokensPerBatch: 2048 }],
    [['-f'], { force: true }],
    [['--force'], { force: true }],
    [['--no-progress', '--verbose', '--log-file', devNull], {}],
  ])('%j does what it did', async (words, expected) => {
    const { flags, said } = await parse([], ...words);
    expect(flags).toMatchObject(expected);
    expect(said).toEqual([]);
  });

  const answered = ORIGINAL_FLAGS.filter((flag) => 'says' in flag).flatMap(({ flags, says }) =>
    flags
      .replace(/ <.*/, '')
      .split(', ')
      .map((name) => [name, flags.includes('<') ? ['4'] : [], says] as const),
  );
  it.each(answered)('%s is answered, and the run goes on', async (name, value, says) => {
    const { said } = await parse([], name, ...value);
    expect(said).toEqual([expect.stringContaining(says)]);
    expect((await parse([], name, ...value, '--quiet')).said).toEqual([]);
  });

  it('are all understood, those that stood before the command too', async () => {
    // Every flag of `predict` in version 2.0.0 of the original tool.
    const original =
      '-m 500 -p head.pth -e 500 -o out -d auto -b 256 -w 4 -k --resume -f --no-progress --dnabert-batch-size 2048 --parallel ' +
      '--v1-fallback --v1-attention --gpus 0,1 --esm-batch-size 2048 -t 4 --merge-threads 4 --skip-checkpoint-validation ' +
      '--force-resume --dataloader-workers 4 --pin-memory --expandable-segments --cache-clear-interval 100 --cuda-streams ' +
      '--persistent-models --verbose';
    const { said } = await parse(['-c', 'old.yaml', '-v', '-l', devNull], ...original.split(' '));
    const elsewhere = ['--use-amp', '--no-cuda-streams'];
    const expected = answered
      .map(([name]) => name)
      .filter((name) => name.startsWith('--') && !elsewhere.includes(name));
    expect(said.map((line) => line.split(' ')[0])).toEqual(expected);
  });
});
