import { Command, Option } from 'commander';
import { asAppError, usage } from '../contract/errors.ts';
import { exportLanguageSchema, reportListSchema } from '../contract/exports.ts';
import { type EngineContext, EXPORT_FORMATS, resolveAppPaths } from '../engine/index.ts';
import { calibrate } from './commands/run/calibrate.ts';
import { command as repeatCommand, resume, verify } from './commands/run/existingRun.ts';
import { compare } from './commands/results/compare.ts';
import { devices, doctor, setup } from './commands/computer/thisComputer.ts';
import { example, predict, validate } from './commands/run/predict.ts';
import { exportRun, query, QUERY_FORMATS, QUERY_HELP } from './commands/results/exportRun.ts';
import { models } from './commands/computer/models.ts';
import { packForOffline } from './commands/computer/packOffline.ts';
import { importLegacy } from './commands/run/importLegacy.ts';
import { results } from './commands/results/results.ts';
import { check } from './commands/computer/check.ts';
import { serve } from './commands/computer/serve.ts';
import { compute, finish, merge, prepare } from './commands/run/shares.ts';
import { status } from './commands/run/status.ts';
import { scriptOf, withClusterOptions } from './clusterFlags.ts';
import {
  common,
  passOn,
  type CommonFlags,
  goalArgument,
  portNumber,
  chunkLengths,
  positiveInteger,
} from './commonFlags.ts';
import { EXIT, outliveSignals } from './exitCodes.ts';
import { inTodaysNames } from './formerCommands.ts';
import { FILTER_HELP, SORT_HELP, WITH_RULE } from './filterArgument.ts';
import { QUERY_LIMITS } from '../contract/rpc/results.ts';
import { appVersion, openEngine } from './openEngine.ts';
import { CONFIG_FLAG } from './originalToolFlags.ts';
import { errorText } from './output/reporter.ts';
import { toLog, toStandardError } from './output/terminal.ts';
import {
  importLegacyCommand,
  predictCommand,
  prepareCommand,
  MIN_LENGTH,
  UNTIL,
  UNTIL_HELP,
  withDeviceOptions,
} from './predictCommand.ts';

interface StatusFlags extends CommonFlags {
  verify?: boolean;
  command?: boolean;
}

/** Runs one command and returns its exit code. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  ignoreBrokenPipes();
  outliveSignals();
  const ended: { exitCode: number } = { exitCode: EXIT.done };
  try {
    await commands(ended).parseAsync(inTodaysNames(argv));
  } catch (reason) {
    const error = asAppError(reason);
    toStandardError(errorText(error));
    const isVerbose = argv.some((word) => word === '-v' || word === '--verbose');
    if (error.detail) (isVerbose ? toStandardError : toLog)(error.detail);
    return EXIT.failed;
  }
  return ended.exitCode;
}

/** Every command with its flags and texts. `ended` takes the exit code of the one that is run. */
export function commands(ended: { exitCode: number }): Command {
  const ends =
    <Given extends unknown[]>(work: (...given: Given) => Promise<number>) =>
    async (...given: Given): Promise<void> => {
      ended.exitCode = await work(...given);
    };
  /** For commands that need Python. */
  const onEngine = <Given extends unknown[]>(
    work: (context: EngineContext, ...given: Given) => Promise<number>,
  ) =>
    async function (this: Command, ...given: Given): Promise<void> {
      const context = await openEngine(this.opts());
      try {
        ended.exitCode = await work(context, ...given);
      } finally {
        await context.warmWorkers?.close();
      }
    };
  const paths = resolveAppPaths({ startFolder: import.meta.dirname });
  const root = common(new Command('virnucpro'))
    .description('Find viral sequences in FASTA and FASTQ files on your own computer')
    .version(paths.ok ? appVersion(paths.value.root) : 'unknown')
    .showHelpAfterError()
    // As in the original tool, flags that all commands share may also precede the command.
    .enablePositionalOptions()
    .addOption(new Option(CONFIG_FLAG).hideHelp())
    .hook('preAction', passOn)
    .configureOutput({
      outputError: (text, write) => {
        write(text);
      },
    })
    .exitOverride((error) => {
      process.exit(error.exitCode === 0 ? EXIT.done : EXIT.failed);
    });

  common(predictCommand(root)).action(onEngine(predict));

  common(importLegacyCommand(root)).action(onEngine(importLegacy));

  common(prepareCommand(root)).action(onEngine(prepare));

  common(withDeviceOptions(root.command('compute')))
    .description('Compute one share of a prepared run, on any computer that reads and writes its folder')
    .argument('<folder>', 'folder of the run')
    .requiredOption('--share <i/n>', 'which share, such as 3/8: the third of eight')
    .action(onEngine(compute));

  common(root.command('finish'))
    .description('Put the shares of a prepared run together and write the result tables')
    .argument('<folder>', 'folder of the run')
    .action(onEngine(finish));

  common(root.command('merge'))
    .description('Make one run of several finished ones')
    .argument('<runs...>', 'folders of the runs')
    .requiredOption('-o, --output-dir <folder>', 'folder for the results')
    .option('-f, --force', 'replace a run that is in the folder')
    .action(onEngine(merge));

  const resumed = root
    .command('resume')
    .description('Continue a run where it stopped, after any kind of interruption')
    .argument('<folder>', 'folder of the run')
    .option('--devices <list>', 'other devices than before: auto, cpu, cpu:3, 0,1 or UUIDs')
    .option('--retry-failed', 'compute failed parts of a finished run again, and those left out')
    .option(UNTIL, UNTIL_HELP, goalArgument)
    .option('--finish-now', 'leave out what is not computed yet, and write the results of the rest')
    .addOption(new Option('--gpus <list>').hideHelp());
  withClusterOptions(common(resumed)).action(onEngine(resume));

  root
    .command('slurm-script')
    .description(
      'Print a batch script for predict --slurm, or for sbatch: an array with a task for each share',
    )
    .argument(
      '[options...]',
      "sbatch's own, such as --array=1-16 --partition=gpu --gres=gpu:4 --time=4:00:00",
    )
    .option('--processors', 'the tasks compute on processors')
    .allowUnknownOption()
    .action((options: string[], { processors = false }: { processors?: boolean }) => {
      process.stdout.write(scriptOf(options, processors));
    });

  common(root.command('example'))
    .description('Run the bundled example')
    .option(
      '-o, --output-dir <folder>',
      "folder for the results (default: example in the program's data folder)",
    )
    .action(onEngine(example));

  common(root.command('serve'), 'json', 'quiet', 'logFile')
    .description('Browser mode: serve the window on this computer, for GPU servers without a screen')
    .option('--port <n>', 'port to listen on, 0 for any that is free (default: 4170)', portNumber)
    .option('--root <folder>', 'folder whose files the page may show (default: home folder)')
    .option('--open', 'open it in the browser of this computer')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--allow-network',
      'listen where other computers can reach it: they need the token, but nothing is encrypted',
    )
    .option('--public-name <name>', 'name of a proxy that encrypts, by which browsers reach this server')
    .addOption(new Option('--for-ssh <file>').hideHelp())
    .action(ends(serve));

  common(root.command('status'))
    .description('Say where a run stands; without one, list GPUs and CPU, and who uses them')
    .argument('[run]', 'folder of a run')
    .option('--verify', 'compare everything that the run has with its checksums')
    .option('--command', 'print the command that makes the same run again')
    .action(
      ends(async (run: string | undefined, flags: StatusFlags) => {
        if (run === undefined && (flags.verify || flags.command)) throw usage('Name the folder of the run.');
        if (run === undefined) return devices(await openEngine(flags), flags.json === true);
        if (flags.verify) return verify(run, flags);
        if (flags.command) return repeatCommand(run);
        return status(await openEngine(flags), run, flags.json === true);
      }),
    );

  const WITH_HELP = `table of another tool to put beside our calls, such as geNomad's _virus_summary.tsv. ${WITH_RULE}`;
  const several = (word: string, before: string[]): string[] => [...before, word];
  common(root.command('export'))
    .description(
      'Write sequences of a run as Excel, CSV, Parquet, FASTA, GFF3 and other formats, or as a report',
    )
    .argument('<run>', 'folder of the run')
    .addOption(
      new Option('--format <name>', 'format to write; report: one HTML file to read, print and send')
        .choices(EXPORT_FORMATS.map(({ id }) => id))
        .default('xlsx'),
    )
    .option('-o, --output <file>', 'file to write (default: named by what it holds, in the current folder)')
    .addOption(
      new Option(
        '--language <name>',
        'of headings and texts; German also separates CSV by semicolons and writes decimal commas',
      )
        .choices(exportLanguageSchema.options)
        .default('en'),
    )
    .option('--filter <condition>', FILTER_HELP, several, [])
    .option('--sort <order>', SORT_HELP, 'no')
    .option('--with <file>', WITH_HELP, several, [])
    .addOption(
      new Option(
        '--list <name>',
        'sequences that a report lists (default: candidates, or virus if there are none)',
      ).choices(reportListSchema.options),
    )
    .action(ends(exportRun));

  common(root.command('results'), 'python', 'quiet')
    .description('A quick look at the results of a run')
    .argument('<run>', 'folder of the run')
    .option('--filter <condition>', FILTER_HELP, several, [])
    .option('--sort <order>', SORT_HELP, '-score')
    .option('--with <file>', WITH_HELP, several, [])
    .option('-n, --rows <n>', 'how many sequences to list', positiveInteger, 20)
    .action(ends(results));

  common(root.command('query'), 'python', 'quiet', 'json')
    .description('Ask a question in SQL about the sequences, chunks and samples of a run')
    .argument('<run>', 'folder of a run')
    .argument('<sql>', 'one SELECT, in the SQL of DuckDB')
    .addOption(
      new Option('--format <name>', 'how to print the answer').choices(QUERY_FORMATS).default('table'),
    )
    .option('--with <file>', WITH_HELP, several, [])
    .option('-n, --rows <n>', 'the most rows to print', positiveInteger, QUERY_LIMITS.rows)
    .addHelpText('after', QUERY_HELP)
    .action(ends(query));

  common(root.command('compare'), 'python', 'quiet')
    .description(
      'Compare the calls of two runs of the same sequences, or of a run and the original VirNucPro',
    )
    .argument('<first>', 'folder of a run')
    .argument(
      '<second>',
      "folder of another run, or the original's prediction_results.txt or prediction_results_highestscore.csv",
    )
    .option('-o, --output <file>', 'write the sequences or chunks whose call differs as a table (TSV)')
    .action(ends(compare));

  common(root.command('validate'))
    .description('Read files to their end and say what they hold')
    .argument('<files...>', 'FASTA or FASTQ files, plain or compressed, or folders')
    .option(
      '-e, --chunk-length <n>',
      'count for chunks of this length alone, or two, such as 500+300',
      chunkLengths,
    )
    .option(MIN_LENGTH, 'count sequences that are shorter, and leave them out', positiveInteger)
    .addOption(new Option('--expected-length <n>').argParser(positiveInteger).hideHelp())
    .action(onEngine(validate));

  common(root.command('doctor'))
    .description('Check driver, GPUs, memory, disk, Python environment and weights')
    .option('--repair', 'rebuild the Python environment')
    .option('--diagnostics', 'print what a request for help needs, without names of people and files')
    .action(ends(doctor));

  common(root.command('setup'))
    .description('Make this computer ready: Python, PyTorch, and a test computation on every device')
    .option('--from <folder>', 'without a network, from a folder that pack-offline has written')
    .option('--repair', 'rebuild the Python environment')
    .addOption(
      new Option(
        '--gpu <kind>',
        'GPUs of the computers that share this environment, such as those of a cluster; here: of this computer again',
      ).choices(['nvidia', 'nvidia-older', 'none', 'here']),
    )
    .action(ends(setup));

  common(root.command('pack-offline'))
    .description('Write a folder from which a computer of the same kind sets itself up without a network')
    .argument('<folder>', 'new or empty folder, such as on a memory stick')
    .option('--gpu <kind>', 'of the other computer: nvidia, nvidia-older, apple or none (default: as here)')
    .option(
      '--models <list>',
      'weights to take along: all that are here, none, or names such as 300,500',
      'all',
    )
    .action(ends(packForOffline));

  common(root.command('models'))
    .description('List the models and their weights; get, import, verify or remove them')
    .argument('[action]', 'list, get, import, verify or remove', 'list')
    .argument(
      '[names...]',
      'teaching, 300, 500 or the name of an imported model; for import: files and folders',
    )
    .option('--name <name>', 'import: what to call the model')
    .option(
      '--chunk-length <n>',
      'import: chunk length in bases that the classifier was trained with',
      positiveInteger,
    )
    .option('--mirror <url>', 'get: address that has all files side by side, by their names')
    .action(onEngine(models));

  common(root.command('check'))
    .description('Check whether this installation computes what it should, and how fast')
    .argument(
      '[what]',
      'devices: a trial computation on every device; ' +
        "controls: known viral and host sequences, and the original tool's answers; " +
        'precision: what each precision of a model costs in exactness; speed: how fast each device is',
      'devices',
    )
    .argument('[inputs...]', 'for precision: sequences to measure with, such as some of your contigs')
    .option('--model <name>', 'for controls and precision: as for predict', '500')
    .option('-d, --devices <list>', 'for controls and precision: as for predict', 'auto')
    .option('--quick', 'for controls: only 20 viral and 20 host sequences')
    .option('--precision <name>', "for controls: as for predict (auto: each device's own)", 'auto')
    .option('--seconds <n>', 'for speed: how long each device is measured', positiveInteger, 60)
    .action(onEngine(check));
  common(root.command('calibrate'))
    .description('What a model makes of your own sequences whose answer is known; kept with the model')
    .option('--viral <file>', 'sequences that are viruses')
    .option('--other <file>', 'sequences that are none; later runs give p-values against them')
    .option('--model <name>', 'as for predict', '500')
    .option('-d, --devices <list>', 'as for predict', 'auto')
    .option(
      '-o, --output-dir <folder>',
      "folder for the run (default: calibration in the program's data folder)",
    )
    .action(onEngine(calibrate));

  return root;
}

/**
 * A pipe's reader may exit (`| head`), a terminal may be closed, a disk behind `>` may be full. Output that
 * cannot be written is lost, but the run and its log continue.
 */
function ignoreBrokenPipes(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
