import { type Command, Option } from 'commander';
import { embeddingPrecisionSchema, precisionSchema, repairSchema } from '../contract/protocol/index.ts';
import { orderSchema } from '../contract/plan.ts';
import { withClusterOptions } from './clusterFlags.ts';
import { chunkLengths, gigabytes, goalArgument, positiveInteger } from './commonFlags.ts';
import { withOriginalFlags } from './originalToolFlags.ts';

/** Heading of the last options of `predict --help`, which few need. */
const CLUSTERS = 'Clusters and other computers:';

export const MIN_LENGTH = '--min-length <bp>';

export const UNTIL = '--until <goal>';
export const UNTIL_HELP =
  'stop when enough is known: 0.5% (half width of the interval of every sample), 30min, 8h; or end';

export function predictCommand(root: Command): Command {
  return withRunOptions(
    root
      .command('predict')
      .description('Score every sequence of the inputs and write the result tables')
      .argument('[inputs...]', 'FASTA or FASTQ files, plain or compressed, or folders'),
  ).option(
    '--reuse-embeddings <folder>',
    'take over what an earlier run computed of these inputs: embeddings of the original VirNucPro or its fork, scores of a finished run of this program',
  );
}

/** `prepare` with the flags of `predict` that decide what is computed. */
export function prepareCommand(root: Command): Command {
  return withRunOptions(
    root
      .command('prepare')
      .description('Read the inputs of a run whose parts other computers compute: see compute and finish')
      .argument('<inputs...>', 'FASTA or FASTQ files, plain or compressed, or folders')
      .option('--processors', 'the parts are computed on processors (default: on GPUs)'),
    'elsewhere',
  );
}

/** `import-legacy` with the flags of `predict`. */
export function importLegacyCommand(root: Command): Command {
  return withRunOptions(
    root
      .command('import-legacy')
      .description('Continue a run of the original VirNucPro or its fork, from the embeddings it left')
      .argument('<folder>', 'folder that the earlier tool wrote')
      .argument('[inputs...]', 'files that the run was made from (default: the one in the folder)'),
  );
}

/** The options for this computer's devices. `--threads` means, as in other tools, `--devices auto:N`. */
export function withDeviceOptions(command: Command): Command {
  return command
    .option('-d, --devices <list>', 'auto, cpu, cpu:3 (three CPU workers), 0,1 or UUIDs (default: auto)')
    .addOption(new Option('-t, --threads <n>').argParser(positiveInteger).hideHelp())
    .on('option:threads', (threads: string) => {
      command.setOptionValue('devices', `auto:${threads}`);
    });
}

function withRunOptions(command: Command, where: 'here' | 'elsewhere' = 'here'): Command {
  command
    .option('-o, --output-dir <folder>', 'folder for the results (default: {input}_predictions)')
    .option(
      '--model <name>',
      'teaching, 300, 500, the name of an imported model, or the path of a model folder or head file (default: 500; teaching for the bundled example)',
    );
  if (where === 'here') withDeviceOptions(command);
  command
    .option('--resume', 'go on with the run if the folder holds one')
    .option('-f, --force', 'replace a run that is in the folder')
    .option(
      '--samples <sheet>',
      'sample sheet (CSV, TSV or XLSX) with the columns file and sample and, if wanted, group, note and control',
    );
  if (where === 'here') command.option(UNTIL, UNTIL_HELP, goalArgument);
  command
    .addOption(
      new Option('--repair <what>', 'mend the sequences of all inputs as they are read; may be repeated')
        .choices(repairSchema.options)
        .argParser((what: string, before: string[] | undefined) => [...(before ?? []), what]),
    )
    .option(MIN_LENGTH, 'leave out shorter sequences: they are counted, and get no score', positiveInteger)
    .addOption(
      new Option(
        '--genetic-code <n>',
        "NCBI's genetic code: 11, or 4 where TGA is read as an amino acid, 15 where TAG is (default: 11)",
      )
        .choices(['4', '11', '15'])
        .argParser(Number),
    )
    .option('--strict', 'end where a file cannot be used, instead of going on without it')
    .addOption(
      new Option('--embeddings [precision]', 'keep the embeddings')
        .choices(embeddingPrecisionSchema.options)
        .preset('fp16'),
    )
    .option(
      '-e, --chunk-length <n>',
      "chunk length in bases (default: the model's); 500+300 looks again, in shorter chunks, at those without an open frame",
      chunkLengths,
    )
    .addOption(
      new Option(
        '--precision <name>',
        'numbers to compute in (default: auto, what all devices are fast in)',
      ).choices(['auto', ...precisionSchema.options]),
    )
    .option(
      '--gpu-memory <GB>',
      'most memory to use on each GPU, at least 2 GB, such as where others use it too (default: all that is free)',
      gigabytes,
    )
    .addOption(
      new Option(
        '--order <name>',
        'what is computed first: an even sample of all inputs, which grows, or one file after the other (default: by the size of the run)',
      ).choices(orderSchema.options),
    )
    .option('-k, --keep-work', 'keep the work folder after the run')
    .addOption(
      new Option(
        '--tables <which>',
        'parquet: leave out the text tables, which export can write later (default: all)',
      ).choices(['all', 'parquet']),
    )
    .option(
      '--patience <n>',
      'wait n times as long before a worker that makes no progress is started again (default: 1)',
      Number,
    )
    // For tests, benchmarks and the command that repeats a run.
    .addOption(new Option('--tokens-per-batch <n>').argParser(positiveInteger).hideHelp())
    .addOption(new Option('--residues-per-part <n>').argParser(positiveInteger).hideHelp())
    .addOption(new Option('--no-embed-equal-sequences-once').hideHelp());
  if (where === 'here') withClusterOptions(command.optionsGroup(CLUSTERS)).optionsGroup('');
  return withOriginalFlags(command);
}
