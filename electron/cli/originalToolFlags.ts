import { type Command, Option } from 'commander';
import { positiveInteger, type CommonFlags } from './commonFlags.ts';
import { toLog, toStandardError } from './output/terminal.ts';

/** A flag of the original tool: it sets one of our options, or changes nothing and is answered with a sentence. */
type OriginalFlag = { readonly flags: string; readonly isCount?: true } & (
  { readonly sets: string } | { readonly says: string }
);

const BATCHES = 'Batches are sized for each device; --tokens-per-batch sets their size for both encoders.';
const ONE_WAY = 'There is one way to compute attention; --precision chooses the numbers.';
const READ_AHEAD = 'Files are read ahead of the devices without a setting.';
const MEMORY = "The program manages the GPU's memory; --gpu-memory limits it.";
const COPIES = 'Data is copied while the GPU computes, without a setting.';

/** The original tool took it before the name of a command too. */
export const CONFIG_FLAG = '-c, --config <file>';

/**
 * The flags of `predict` in the original VirNucPro and its fork that are not also flags of ours (source: their
 * command line of version 2.0.0, and their guide for `--input` and `--use-amp`). A script that has them goes on working.
 */
export const ORIGINAL_FLAGS: readonly OriginalFlag[] = [
  { flags: '-m, --model-type <name>', sets: 'model' },
  { flags: '-p, --model-path <path>', sets: 'modelPath' },
  { flags: '--expected-length <n>', isCount: true, sets: 'chunkLength' },
  { flags: '--gpus <list>', sets: 'devices' },
  { flags: '--device <name>', sets: 'devices' },
  { flags: '--esm-batch-size <tokens>', isCount: true, sets: 'tokensPerBatch' },
  { flags: '--input <files...>', sets: 'input' },
  { flags: '--keep-intermediate', sets: 'keepWork' },
  { flags: '--parallel', says: 'All GPUs compute unless --devices names some.' },
  { flags: '-b, --batch-size <n>', says: 'The classifier takes a whole part at once.' },
  { flags: '--dnabert-batch-size <n>', says: BATCHES },
  { flags: '-w, --num-workers <n>', says: 'Each device has one worker; --devices chooses the devices.' },
  { flags: '--dataloader-workers <n>', says: READ_AHEAD },
  { flags: '--merge-threads <n>', says: 'Both embeddings are computed together, so nothing is merged.' },
  {
    flags: '--use-amp',
    says: '--precision chooses the numbers; by default it is what all devices are fast in.',
  },
  { flags: '--v1-attention', says: ONE_WAY },
  { flags: '--v1-fallback', says: ONE_WAY },
  { flags: '--persistent-models', says: 'Models stay loaded for the whole run.' },
  { flags: '--pin-memory', says: READ_AHEAD },
  { flags: '--expandable-segments', says: MEMORY },
  { flags: '--cache-clear-interval <n>', says: MEMORY },
  { flags: '--cuda-streams', says: COPIES },
  { flags: '--no-cuda-streams', says: COPIES },
  { flags: '--skip-checkpoint-validation', says: 'Stored scores are always compared with their checksums.' },
  {
    flags: '--force-resume',
    says: '--resume goes on with a run of the same inputs, and --force replaces it.',
  },
  {
    flags: CONFIG_FLAG,
    says: 'The file was not read. Choose with flags what it chose, such as --model and --devices.',
  },
];

/** Lets a command take the flags of the original tool's `predict`. They stand in one line of its help. */
export function withOriginalFlags(command: Command): Command {
  const working: string[] = [];
  const answers = new Map<Option, string>();
  for (const flag of ORIGINAL_FLAGS) {
    const option = new Option(flag.flags).hideHelp();
    if (flag.isCount) option.argParser(positiveInteger);
    command.addOption(option);
    if ('says' in flag) {
      answers.set(option, flag.says);
      continue;
    }
    working.push(option.long ?? flag.flags);
    command.on(`option:${option.name()}`, () => {
      command.setOptionValue(flag.sets, command.getOptionValue(option.attributeName()));
    });
  }
  command.hook('preAction', () => {
    const say = command.opts<CommonFlags>().quiet === true ? toLog : toStandardError;
    for (const [option, answer] of answers) {
      const value: unknown = command.getOptionValue(option.attributeName());
      // --no-cuda-streams shares its value with --cuda-streams.
      if (value !== undefined && value !== option.negate)
        say(`${option.long} changes nothing here. ${answer}`);
    }
  });
  const answered = [...answers.keys()].map(({ long }) => long);
  return command.addHelpText(
    'after',
    `\nFlags of the original VirNucPro work too: ${working.join(', ')}. These change nothing, and the run goes on: ${answered.join(', ')}.`,
  );
}
