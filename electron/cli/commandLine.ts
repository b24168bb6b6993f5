import { Command, InvalidArgumentError, Option } from 'commander';
import { asAppError } from '../contract/errors.ts';
import type { EngineContext } from '../engine/engineContext.ts';
import { resolveAppPaths } from '../engine/environment/index.ts';
import { RunSession } from '../engine/runs/runSession.ts';
import { devices } from './commands/devices.ts';
import { doctor } from './commands/doctor.ts';
import { followRun } from './commands/followRun.ts';
import { models } from './commands/models.ts';
import { predict, type PredictFlags } from './commands/predict.ts';
import { status } from './commands/status.ts';
import { validate } from './commands/validate.ts';
import { EXIT } from './exitCodes.ts';
import { RETIRED_COMMANDS, RETIRED_PREDICT_FLAGS, RETIRED_VARIABLES } from './legacyTool.ts';
import { appVersion, openEngine, unwrap } from './openEngine.ts';
import { environmentReporter } from './output/environmentReporter.ts';
import { logTo } from './output/logFile.ts';
import { createReporter, errorText, type Reporter, type ReporterKind } from './output/reporter.ts';

interface CommonFlags {
  python?: string;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  logFile?: string;
  progress?: boolean;
}

/** Runs one command and answers with its exit code. */
export async function runCommandLine(argv: readonly string[], storeHost: URL): Promise<number> {
  let exitCode: number = EXIT.done;
  const withEngine = async (flags: CommonFlags, work: (context: EngineContext) => Promise<number>): Promise<void> => {
    warnOfRetiredVariables();
    const context = unwrap(
      await openEngine({
        python: flags.python,
        storeHost,
        onEnvironment: environmentReporter(flags.quiet === true || flags.json === true),
      }),
    );
    exitCode = await work(context);
  };
  try {
    await program(withEngine).parseAsync([...argv]);
  } catch (reason) {
    const error = asAppError(reason);
    process.stderr.write(`${errorText(error)}\n`);
    if (error.detail && argv.some((word) => word === '-v' || word === '--verbose')) {
      process.stderr.write(`${error.detail}\n`);
    }
    return EXIT.failed;
  }
  return exitCode;
}

type WithEngine = (flags: CommonFlags, work: (context: EngineContext) => Promise<number>) => Promise<void>;

function program(withEngine: WithEngine): Command {
  const paths = resolveAppPaths({ startFolder: import.meta.dirname });
  const root = new Command('virnucpro')
    .description('Find viral sequences in FASTA and FASTQ files on your own computer')
    .version(paths.ok ? appVersion(paths.value.root) : 'unknown')
    .showHelpAfterError()
    .configureOutput({ outputError: (text, write) => { write(text); } })
    .exitOverride((error) => {
      process.exit(error.exitCode === 0 ? EXIT.done : EXIT.failed);
    });

  common(predictCommand(root)).action(async (inputs: string[], flags: PredictFlags & CommonFlags) => {
    await withEngine(flags, (context) => predict(context, inputs, flags, reporter(flags)));
  });

  common(root.command('resume'))
    .description('Go on with a run where it was, after any kind of interruption')
    .argument('<folder>', 'folder of the run')
    .option('--devices <list>', 'other devices than before: auto, cpu, cpu:3, 0,1 or UUIDs')
    .addOption(new Option('--gpus <list>').hideHelp())
    .action(async (folder: string, flags: CommonFlags & { devices?: string; gpus?: string }) => {
      await withEngine(flags, async (context) =>
        followRun(unwrap(await RunSession.open(context, folder)), reporter(flags), flags.devices ?? flags.gpus),
      );
    });

  common(root.command('status'))
    .description('Say where a run stands')
    .argument('<folder>', 'folder of the run')
    .action(async (folder: string, flags: CommonFlags) => {
      await withEngine(flags, (context) => status(context, folder, flags.json === true));
    });

  common(root.command('devices'))
    .description('List GPUs and CPU, and who uses them')
    .action(async (flags: CommonFlags) => {
      await withEngine(flags, (context) => devices(context, flags.json === true));
    });

  common(root.command('validate'))
    .description('Read files to their end and say what they hold')
    .argument('<files...>', 'FASTA or FASTQ files, plain or compressed, or folders')
    .option('-e, --chunk-length <n>', 'chunk length in bases', positiveInteger, 500)
    .addOption(new Option('--expected-length <n>').argParser(positiveInteger).hideHelp())
    .action(async (files: string[], flags: CommonFlags & { chunkLength: number; expectedLength?: number }) => {
      await withEngine(flags, (context) =>
        validate(context, files, flags.expectedLength ?? flags.chunkLength, flags.json === true),
      );
    });

  common(root.command('doctor'))
    .description('Check driver, GPUs, memory, disk, Python environment and weights')
    .option('--repair', 'make the Python environment anew')
    .action(async (flags: CommonFlags & { repair?: boolean }) => {
      process.exitCode = await doctor(flags.python, flags.repair === true);
    });

  common(root.command('models'))
    .description('List the models and their weights; get or import them')
    .argument('[action]', 'list, get, import or verify', 'list')
    .argument('[model]', 'demo, 300, 500 or a path')
    .argument('[files...]', 'files to import')
    .action(async (action: string, model: string | undefined, files: string[], flags: CommonFlags) => {
      await withEngine(flags, (context) => models(context, action, model, files, flags.json === true));
    });

  retiredCommands(root);
  return root;
}

function predictCommand(root: Command): Command {
  const command = root
    .command('predict')
    .description('Score every sequence of the inputs and write the result tables')
    .argument('<inputs...>', 'FASTA or FASTQ files, plain or compressed, or folders')
    .option('-o, --output-dir <folder>', 'folder for the results (default: {input}_predictions)')
    .option('--model <name>', 'demo, 300, 500, or the path of a model folder or head file (default: 500)')
    .option('-e, --chunk-length <n>', "chunk length in bases (default: the model's)", positiveInteger)
    .option('-d, --devices <list>', 'auto, cpu, cpu:3 (three CPU workers), 0,1 or UUIDs (default: auto)')
    .addOption(new Option('--precision <name>').choices(['auto', 'bf16', 'fp16', 'fp32', 'fp8']))
    .option('--tokens-per-batch <n>', 'tokens computed at once', positiveInteger)
    .option('--residues-per-part <n>', 'size of a part, the unit of work and of resuming', positiveInteger)
    .addOption(new Option('--embeddings [precision]', 'keep the embeddings').choices(['fp16', 'fp32']).preset('fp16'))
    .option('-k, --keep-work', 'keep the work folder after the run')
    .option('-f, --force', 'replace a run that is in the folder')
    .option('--resume', 'go on with the run if the folder holds one');
  const aliases = [
    new Option('-m, --model-type <name>').hideHelp(),
    new Option('-p, --model-path <path>').hideHelp(),
    new Option('--expected-length <n>').argParser(positiveInteger).hideHelp(),
    new Option('--gpus <list>').hideHelp(),
    new Option('--device <name>').hideHelp(),
    new Option('--keep-intermediate').hideHelp(),
  ];
  for (const alias of aliases) command.addOption(alias);
  const into = { modelType: 'model', expectedLength: 'chunkLength', gpus: 'devices', device: 'devices', keepIntermediate: 'keepWork' };
  for (const [from, to] of Object.entries(into)) {
    command.on(`option:${kebab(from)}`, () => {
      command.setOptionValue(to, command.getOptionValue(from));
    });
  }
  for (const { flags, says } of RETIRED_PREDICT_FLAGS) {
    const option = new Option(flags).hideHelp();
    command.addOption(option);
    command.on(`option:${option.name()}`, () => {
      process.stderr.write(`${option.long ?? flags} has no effect: ${says}\n`);
    });
  }
  return command;
}

function common(command: Command): Command {
  return command
    .option('--python <path>', 'use this Python interpreter as it is')
    .option('--json', 'write events as JSON lines to standard output')
    .option('-q, --quiet', 'say only what is wrong')
    .option('-v, --verbose', 'say more')
    .option('-l, --log-file <file>', 'write a log of what is said')
    .addOption(new Option('--no-progress').hideHelp());
}

function retiredCommands(root: Command): void {
  const utils = root.command('utils', { hidden: true });
  for (const [name, says] of Object.entries(RETIRED_COMMANDS)) {
    const parent = name.startsWith('utils ') ? utils : root;
    parent
      .command(name.replace('utils ', ''), { hidden: true })
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {
        process.stderr.write(`${says}\n`);
        process.exitCode = EXIT.failed;
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

function reporter(flags: CommonFlags): Reporter {
  const kind: ReporterKind =
    flags.json === true
      ? 'json'
      : flags.quiet === true
        ? 'quiet'
        : process.stderr.isTTY && flags.progress !== false
          ? 'table'
          : 'lines';
  return createReporter(kind, logTo(flags.logFile));
}

function warnOfRetiredVariables(): void {
  for (const [name, says] of Object.entries(RETIRED_VARIABLES)) {
    if (process.env[name]) process.stderr.write(`${name} has no effect: ${says}\n`);
  }
}

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0) throw new InvalidArgumentError('Write a whole number above 0.');
  return value;
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
