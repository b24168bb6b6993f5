import { stat } from 'node:fs/promises';
import { basename, resolve, join } from 'node:path';
import { unwrap, appFailure, usage } from '../../../contract/errors.ts';
import type { Goal } from '../../../contract/goal.ts';
import { message } from '../../../contract/messages.ts';
import { chunkLengthsText, type Plan } from '../../../contract/plan.ts';
import { STANDARD_GENETIC_CODE, type InspectedFile, type Repair } from '../../../contract/protocol/index.ts';
import { runRequestSchema, type RunRequest, inputPathsSchema } from '../../../contract/rpc/runs.ts';
import { isBlocking, severityOf, toldOf } from '../../../contract/problems.ts';
import { pairProblems } from '../../../contract/readPairs.ts';
import { matchSheet, matesOf, NO_DETAILS, samplesOfSheet } from '../../../contract/samples.ts';
import {
  collectInputs,
  createRun,
  type CreatedRun,
  defaultFolderName,
  describeImported,
  findDiskShortage,
  type EngineContext,
  formatBytes,
  hashFile,
  isRunFolder,
  OpenRun,
  readSampleSheet,
  refusedFiles,
  resolveModel,
  exampleInput,
  formatCount,
  formatDurationRange,
  inspectInputs,
  looksHere,
  secondsMeasured,
  exampleRequest,
} from '../../../engine/index.ts';
import { whereAsked, type ClusterFlags } from '../../clusterFlags.ts';
import { parsed, reporterOf, type CommonFlags } from '../../commonFlags.ts';
import { followRun, type FollowOptions } from './followRun.ts';
import { EXIT } from '../../exitCodes.ts';
import { judgedLines } from '../../output/judged.ts';
import { toStandardError, toStandardOutput } from '../../output/terminal.ts';

/** The options that commander passes for `predict`. */
export interface PredictFlags extends ClusterFlags, CommonFlags {
  outputDir?: string;
  model?: string;
  modelPath?: string;
  chunkLength?: number | number[];
  devices?: string;
  precision?: string;
  gpuMemory?: number;
  patience?: number;
  tokensPerBatch?: number;
  residuesPerPart?: number;
  order?: string;
  until?: Goal | null;
  embedEqualSequencesOnce?: boolean;
  embeddings?: boolean | string;
  reuseEmbeddings?: string;
  repair?: Repair[];
  minLength?: number;
  geneticCode?: number;
  /** Path of a sample sheet. */
  samples?: string;
  keepWork?: boolean;
  tables?: string;
  force?: boolean;
  strict?: boolean;
  resume?: boolean;
  /** For `prepare`: reads the inputs, and leaves the computing to shares. */
  preparesOnly?: boolean;
  /** For `prepare`: shares are computed on processors. */
  processors?: boolean;
  /** The earlier tool's option for the inputs. */
  input?: string[];
}

export async function predict(context: EngineContext, named: string[], flags: PredictFlags): Promise<number> {
  const inputs = [...named, ...(flags.input ?? [])];
  if (inputs.length === 0) {
    const nextStep = 'Name FASTA or FASTQ files, or folders: "virnucpro predict FILE".';
    throw usage('No input was named.', nextStep);
  }
  const reporter = await reporterOf(flags);
  const request = {
    ...runRequest(inputs, flags, modelFor(context, inputs)),
    ...(flags.samples === undefined ? {} : await samplesIn(flags.samples, inputs)),
  };
  const folder = request.outputDir ?? (await usualFolder(context, inputs, request.model));
  if (flags.resume && isRunFolder(folder)) {
    const run = unwrap(await OpenRun.open(context, folder));
    const differs = await differences(context, run, request, flags);
    if (differs.length > 0) {
      await run.close();
      const cause = `The run in ${folder} was made from other inputs or with other settings: ${differs.join('; ')}.`;
      const nextStep = 'Leave these out to go on with it, or name another folder for a new run.';
      throw usage(cause, nextStep);
    }
    return followRun(context, run, reporter, startOptions(flags));
  }
  const created = unwrap(
    await createRun(context, {
      request,
      defaultParent: process.cwd(),
      onFile: (file) => {
        reporter.line(
          `${file.path}: ${formatCount(file.sequences)} sequences, ${formatCount(file.bases)} bases, ${formatBytes(file.size_bytes)}`,
        );
        for (const problem of file.problems) if (!isBlocking(problem)) reporter.line(`  ${toldOf(problem)}`);
      },
    }),
  );
  const { plan } = created;
  for (const line of passedOver(created.passedOver)) reporter.line(line);
  for (const problem of created.pairProblems) reporter.line(toldOf(problem));
  const shortage = await findDiskShortage(created.folder, request, created.judged);
  if (shortage) reporter.line(`${shortage.cause} ${shortage.nextStep}`);
  reporter.line(
    `Model ${plan.model.title}${plan.model.notice ? ` (${plan.model.notice})` : ''}, ${plan.precision}, ${whatComputes(created.choice)}`,
  );
  reporter.line(
    plan.order === 'sample'
      ? 'An even sample of all inputs is computed first, and grows until it is the whole (--order file: one file after the other)'
      : 'One file is computed after the other (--order sample: an even sample of all inputs first)',
  );
  if (plan.imported) {
    reporter.line(describeImported(plan.imported).text);
    for (const line of refusedFiles(plan.imported)) reporter.line(`  ${line}`);
  }
  for (const line of await judgedBefore(context, created)) reporter.line(line);
  reporter.line(`Results go to ${created.folder}`);
  return followRun(context, unwrap(await OpenRun.open(context, created.folder)), reporter, {
    ...startOptions(flags),
    where: undefined,
    until: undefined,
    devices: undefined,
    created,
  });
}

/** What this run and others of the same files can judge, with their times where the speed was measured. */
async function judgedBefore(context: EngineContext, { plan, files, choice }: CreatedRun): Promise<string[]> {
  const looks = Object.keys(files[0]?.judged ?? {});
  return judgedLines(files, looks, async (judged) => {
    const means = { ...context, speeds: null };
    const seconds = await secondsMeasured(means, plan.model, judged, choice.devices, plan.precision);
    return seconds && formatDurationRange(seconds.low, seconds.high);
  });
}

/** Writes the samples of a request as text, to compare two requests. */
const sheetText = ({ samples, sampleDetails }: RunRequest): string =>
  Object.keys(sampleDetails ?? {})
    .toSorted()
    .map((path) => {
      const { group, note, control } = sampleDetails?.[path] ?? NO_DETAILS;
      const facts = [samples?.[path], group, note, control ? 'control' : null];
      return `${basename(path)} ${facts.filter((fact) => typeof fact === 'string').join(' / ')}`;
    })
    .join(', ') || 'none';

/** Reads what a sample sheet says about the inputs. Each of its lines must match one of them. */
async function samplesIn(
  sheet: string,
  inputs: readonly string[],
): Promise<Pick<RunRequest, 'samples' | 'sampleDetails'>> {
  const rows = unwrap(await readSampleSheet(resolve(sheet)));
  const { paths } = unwrap(await collectInputs(inputs));
  const { rows: byPath, missing, ambiguous } = matchSheet(rows, paths);
  const name = basename(sheet);
  const [unknown] = missing;
  if (unknown) throw appFailure('sample_sheet', message('sheet.file_missing', { name, file: unknown.file }));
  const [several] = ambiguous;
  if (several)
    throw appFailure('sample_sheet', message('sheet.file_ambiguous', { name, file: several.file }));
  return samplesOfSheet(byPath);
}

function startOptions(flags: PredictFlags): FollowOptions {
  if (flags.preparesOnly) return { preparesOnly: true, goOnWith: 'the same command and --resume' };
  return { devices: flags.devices, where: whereAsked(flags, flags.devices), until: flags.until };
}

function whatComputes({ devices, cluster, plannedFor }: CreatedRun['choice']): string {
  if (cluster)
    return cluster.kind === 'ray' ? `on the Ray cluster at ${cluster.address}` : 'on a SLURM cluster';
  if (plannedFor !== null) return plannedFor === 'cpu' ? 'for processors' : 'for GPUs';
  const names = devices.map((device) =>
    device.kind === 'cuda' ? `GPU ${device.index} ${device.name}` : device.id,
  );
  return `on ${names.join(', ')}`;
}

async function usualFolder(context: EngineContext, inputs: string[], choice: string): Promise<string> {
  const model = await resolveModel(choice, context.paths);
  return defaultFolderName(inputs, model.ok ? model.value.planModel : { notice: null });
}

/**
 * Options given with `--resume` that differ from the run's own. Options that were not given are not compared.
 */
async function differences(
  context: EngineContext,
  run: OpenRun,
  request: RunRequest,
  flags: PredictFlags,
): Promise<string[]> {
  const { request: begun } = run.record;
  const { plan, leftOut } = run.record.stored;
  const known = new Set([...plan.inputs.map(({ path }) => path), ...leftOut.map(({ path }) => path)]);
  const named = unwrap(await collectInputs(request.inputs)).paths;
  const more = named.filter((path) => !known.has(path));
  const fewer = plan.inputs.filter(({ path }) => !named.includes(path));
  const asked: [string, Setting | undefined, Setting][] = [
    ['--chunk-length', flags.chunkLength && [flags.chunkLength].flat().join('+'), chunkLengthsText(plan)],
    ['--precision', flags.precision === 'auto' ? undefined : flags.precision, plan.precision],
    ['--tokens-per-batch', flags.tokensPerBatch, plan.tokensPerBatch],
    ['--residues-per-part', flags.residuesPerPart, plan.residuesPerPart],
    ['--order', flags.order, plan.order],
    ['--embeddings', flags.embeddings === undefined ? undefined : request.embeddings, plan.embeddings],
    [
      '--no-embed-equal-sequences-once',
      flags.embedEqualSequencesOnce === false ? false : undefined,
      plan.embedEqualSequencesOnce,
    ],
    ['--gpu-memory', inGigabytes(flags.gpuMemory), inGigabytes(begun.gpuMemoryBytes) ?? null],
    ['--patience', flags.patience, begun.patience ?? 1],
    ['--samples', flags.samples === undefined ? undefined : sheetText(request), sheetText(begun)],
    ['--repair', flags.repair?.toSorted().join(', '), plan.repairs?.join(', ') ?? null],
    ['--min-length', flags.minLength, plan.minLength ?? null],
    ['--genetic-code', flags.geneticCode, plan.geneticCode ?? STANDARD_GENETIC_CODE],
    ['--keep-work', flags.keepWork || undefined, begun.keepWork],
    ['--tables', flags.tables, begun.tables ?? 'all'],
    ['--strict', flags.strict || undefined, begun.strict],
    ['--reuse-embeddings', request.reuseEmbeddings, plan.imported?.folder ?? plan.earlier ?? null],
    ['--model', await hashOfModel(context, model(flags)), plan.model.hash],
  ];
  return [
    ...more.map((path) => `${path} is not among its inputs`),
    ...fewer.map(({ path }) => `${path} is one of its inputs and was not named`),
    ...(await changedContents(plan.inputs.filter(({ path }) => named.includes(path)))),
    ...asked.flatMap(([flag, wanted, has]) => {
      if (wanted === undefined || wanted === has) return [];
      return flag === '--model'
        ? [`its model is ${plan.model.title}`]
        : [`${flag} is ${shown(has)} and not ${shown(wanted)}`];
    }),
  ];
}

const inGigabytes = (bytes: number | undefined): number | undefined =>
  bytes === undefined ? undefined : bytes / 1e9;

type Setting = string | number | boolean | null;

function shown(value: Setting): string {
  if (value === null || value === false) return 'off';
  return value === true ? 'on' : String(value);
}

/**
 * A file may have been replaced by another one with the same name, which the run's results do not describe.
 */
async function changedContents(inputs: Plan['inputs']): Promise<string[]> {
  const changed: string[] = [];
  for (const { path, sizeBytes, sha256 } of inputs) {
    const isSame = (await stat(path)).size === sizeBytes && (await hashFile(path)) === sha256;
    if (!isSame) changed.push(`${path} has changed since`);
  }
  return changed;
}

/** Undefined if no model was requested. */
async function hashOfModel(
  { paths }: EngineContext,
  choice: string | undefined,
): Promise<string | undefined> {
  if (choice === undefined) return undefined;
  return unwrap(await resolveModel(choice, paths)).planModel.hash;
}

function runRequest(inputs: string[], flags: PredictFlags, defaultModel: string): RunRequest {
  const [chunkLength, secondChunkLength] = [flags.chunkLength ?? []].flat();
  return parsed(runRequestSchema, {
    inputs,
    outputDir: flags.outputDir,
    model: model(flags) ?? defaultModel,
    chunkLength,
    secondChunkLength,
    where: flags.preparesOnly
      ? { kind: 'shares', on_processors: flags.processors ?? false }
      : whereAsked(flags, flags.devices),
    devices: flags.devices === 'cuda' ? 'auto' : (flags.devices ?? 'auto'),
    precision: flags.precision ?? 'auto',
    gpuMemoryBytes: flags.gpuMemory,
    patience: flags.patience,
    tokensPerBatch: flags.tokensPerBatch,
    residuesPerPart: flags.residuesPerPart,
    order: flags.order,
    until: flags.until ?? undefined,
    embedEqualSequencesOnce: flags.embedEqualSequencesOnce,
    embeddings: flags.embeddings === true ? 'fp16' : flags.embeddings || null,
    reuseEmbeddings: flags.reuseEmbeddings === undefined ? undefined : resolve(flags.reuseEmbeddings),
    repairs: flags.repair,
    minLength: flags.minLength,
    geneticCode: flags.geneticCode === STANDARD_GENETIC_CODE ? undefined : flags.geneticCode,
    keepWork: flags.keepWork ?? false,
    tables: flags.tables,
    force: flags.force ?? false,
    strict: flags.strict ?? false,
  });
}

/** The earlier tool's `--model-type custom --model-path FILE` means `--model FILE`. */
function model(flags: PredictFlags): string | undefined {
  if (flags.model !== undefined && flags.model !== 'custom') return flags.model;
  if (flags.modelPath !== undefined) return flags.modelPath;
  if (flags.model === 'custom') {
    throw usage('A custom model needs its path.', 'Use --model PATH.');
  }
  return undefined;
}

/** The default is the teaching model for the bundled example, and the published model for everything else. */
function modelFor(context: EngineContext, inputs: string[]): string {
  const example = exampleInput(context.paths);
  return inputs.every((input) => resolve(input) === example) ? 'teaching' : '500';
}

const MOST_PASSED_OVER_NAMED = 5;

/** Says what is not used of the named folders, in one line or none. */
function passedOver({ ignored, someIgnored }: CreatedRun['passedOver']): string[] {
  if (ignored === 0) return [];
  const named = someIgnored.slice(0, MOST_PASSED_OVER_NAMED);
  const more = ignored > named.length ? `, and ${formatCount(ignored - named.length)} more` : '';
  return [
    `Passed over in the folders, as hidden, unfinished or without sequences: ${named.join(', ')}${more}. Name a file itself to use it.`,
  ];
}

export interface ValidateFlags extends CommonFlags {
  chunkLength?: number[];
  expectedLength?: number;
  minLength?: number;
}

/** Reads files completely and prints what they contain and what a run would do with each. */
export async function validate(
  context: EngineContext,
  inputs: string[],
  { chunkLength, expectedLength, minLength, json }: ValidateFlags,
): Promise<number> {
  const look = chunkLength?.join('+') ?? expectedLength?.toString();
  const collected = unwrap(await collectInputs(parsed(inputPathsSchema, inputs)));
  const { paths } = collected;
  for (const line of passedOver(collected)) toStandardError(line);
  const blocked: string[] = [];
  const seen: InspectedFile[] = [];
  const mates = matesOf(paths);
  const looks = look === undefined ? await looksHere(context.paths) : [look];
  unwrap(
    await inspectInputs(context, paths, { looks, repairs: [], minLength }, (file) => {
      const mate = seen[mates[seen.length] ?? -1];
      if (mate) file.problems.push(...(pairProblems([mate, file]).get(file.path) ?? []));
      seen.push(file);
      if (file.problems.some(isBlocking)) blocked.push(file.path);
      if (json) {
        const problems = file.problems.map((problem) => ({ ...problem, message: toldOf(problem) }));
        process.stdout.write(`${JSON.stringify({ ...file, problems, name_marks: undefined })}\n`);
        return;
      }
      const lines = [
        `${file.path}: ${file.format}${file.compression === 'none' ? '' : `, ${file.compression}`}`,
        `  ${formatCount(file.sequences)} sequences, ${formatCount(file.bases)} bases, lengths ` +
          `${formatCount(file.min_length)} to ${formatCount(file.max_length)} (median ${formatCount(file.median_length)})`,
        ...file.problems.flatMap((problem) => [
          `  ${severityOf(problem.code)}: ${toldOf(problem)}`,
          ...problem.examples.map(({ name, detail }) => `    ${name}: ${detail}`),
        ]),
        ...(file.problems.length === 0 ? ['  Nothing to complain about.'] : []),
      ];
      toStandardOutput(lines.join('\n'));
    }),
  );
  if (!json) toStandardOutput((await judgedLines(seen, looks)).join('\n'));
  return blocked.length > 0 ? EXIT.failed : EXIT.done;
}

/** Runs the bundled example with the teaching model. */
export async function example(
  context: EngineContext,
  flags: CommonFlags & { outputDir?: string },
): Promise<number> {
  const reporter = await reporterOf(flags);
  const folder = flags.outputDir ?? join(context.paths.dataDir, 'example');
  const created = unwrap(
    await createRun(context, {
      request: await exampleRequest(context.paths, folder),
      defaultParent: folder,
    }),
  );
  reporter.line('Running the bundled example with the teaching model ...');
  return followRun(context, unwrap(await OpenRun.open(context, created.folder)), reporter, { created });
}
