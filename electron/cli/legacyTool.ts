import type { Command } from 'commander';
import { EXIT } from './exitCodes.ts';

/**
 * The flags, commands and environment variables of the earlier command-line tool. Whoever has scripts with them is either
 * understood (the flag has an equal here) or answered with one sentence that says what replaces it.
 */
interface RetiredFlag {
  /** As commander writes it. */
  flags: string;
  says: string;
}

const AUTOMATIC_BATCHES = 'batches are sized by tokens; use --tokens-per-batch if you must.';

/** Flags of `predict` that do nothing here. The run goes on; the sentence is printed. */
export const RETIRED_PREDICT_FLAGS: readonly RetiredFlag[] = [
  {
    flags: '-b, --batch-size <n>',
    says: 'The classifier runs over whole parts; there is no batch size to set.',
  },
  { flags: '-w, --num-workers <n>', says: 'There is one worker per device; choose devices with --devices.' },
  { flags: '--dnabert-batch-size <n>', says: `Both encoders share one setting: ${AUTOMATIC_BATCHES}` },
  { flags: '--parallel', says: 'All devices are used by default; choose fewer with --devices.' },
  { flags: '--v1-fallback', says: 'There is one way of computing; choose its precision with --precision.' },
  { flags: '--v1-attention', says: 'There is one way of computing; choose its precision with --precision.' },
  {
    flags: '-t, --threads <n>',
    says: 'Threads are chosen by the program; for CPU workers use --devices cpu:N.',
  },
  {
    flags: '--merge-threads <n>',
    says: 'There is no merge stage: both embeddings are computed in one pass.',
  },
  {
    flags: '--skip-checkpoint-validation',
    says: 'Checkpoints are always verified by their checksums, which costs next to nothing.',
  },
  {
    flags: '--force-resume',
    says: 'Use "virnucpro resume FOLDER", or --force to start a run from the beginning.',
  },
  { flags: '--dataloader-workers <n>', says: 'Reading ahead is built in; there is nothing to set.' },
  { flags: '--pin-memory', says: 'Pinned memory is used wherever it helps; there is nothing to set.' },
  { flags: '--expandable-segments', says: 'Expandable segments are always on.' },
  { flags: '--cache-clear-interval <n>', says: 'Memory is managed by the program; there is nothing to set.' },
  { flags: '--cuda-streams', says: 'Copies run beside computing where that pays; there is nothing to set.' },
  {
    flags: '--no-cuda-streams',
    says: 'Copies run beside computing where that pays; there is nothing to set.',
  },
  { flags: '--persistent-models', says: 'Models always stay loaded for the whole run.' },
  {
    flags: '-c, --config <file>',
    says: 'There is no configuration file; every setting is a flag and is stored with the run.',
  },
];

/** Commands that have no equal here. They end with the sentence. */
export const RETIRED_COMMANDS: Readonly<Record<string, string>> = {
  profile:
    'Batch sizes are found by the program itself and remembered per device; "virnucpro benchmark" measures several.',
  'utils generate-config':
    'There is no configuration file; every setting is a flag and is stored with the run.',
  'utils validate-checkpoints':
    'Use "virnucpro verify FOLDER"; a run is also verified whenever it is resumed and before its tables are written.',
};

/** Environment variables that changed how the earlier tool computed. */
const RETIRED_VARIABLES: Readonly<Record<string, string>> = {
  VIRNUCPRO_DISABLE_PACKING: 'there is one way of batching, and it is tested against one by one.',
  VIRNUCPRO_DISABLE_FP16: 'use --precision fp32.',
  VIRNUCPRO_V1_ATTENTION: 'attention is computed in full on every device; nothing is approximated.',
  VIRNUCPRO_VIRAL_CHECKPOINT_MODE: 'every finished part is a checkpoint.',
  VIRNUCPRO_DISABLE_COMPILE:
    'compiled and plain kernels agree within rounding; there is nothing to switch off.',
};

/** `-d cuda:1`, `-d 1`, `-d cuda` of the earlier tool in today's words. */
export function legacyDevice(text: string): string {
  return text.trim().toLowerCase() === 'cuda' ? 'auto' : text;
}

/** Commands of the earlier tool: they name what replaces them, or do what today's command does. */
export function addRetiredCommands(root: Command, setExitCode: (code: number) => void): void {
  const utils = root.command('utils', { hidden: true });
  for (const [name, says] of Object.entries(RETIRED_COMMANDS)) {
    const parent = name.startsWith('utils ') ? utils : root;
    parent
      .command(name.replace('utils ', ''), { hidden: true })
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {
        process.stderr.write(`${says}\n`);
        setExitCode(EXIT.failed);
      });
  }
  for (const [name, today] of [
    ['list-devices', 'devices'],
    ['validate', 'validate'],
  ] as const) {
    utils
      .command(name, { hidden: true })
      .allowUnknownOption()
      .allowExcessArguments()
      .argument('[words...]')
      .action(async (words: string[]) => {
        await root.parseAsync([today, ...words], { from: 'user' });
      });
  }
}

export function warnOfRetiredVariables(): void {
  for (const [name, says] of Object.entries(RETIRED_VARIABLES)) {
    if (process.env[name]) process.stderr.write(`${name} has no effect: ${says}\n`);
  }
}
