import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { errorOf, err, ok, type Result, failWith } from '../../../contract/errors.ts';
import {
  chunkLengthsText,
  TAIL_PARTS,
  CHUNK_LENGTH_LIMITS,
  firstRound,
  isSecondLength,
  modelMark,
  MARK_SUFFIX,
  IMPORTED_EMBEDDINGS_FOLDER,
  type Plan,
  type PlanInput,
  type PlanModel,
  type ImportedEmbeddings,
} from '../../../contract/plan.ts';
import { judgedOf } from '../../../contract/looks.ts';
import { COMPRESSION_ENDINGS } from '../../../contract/folderNames.ts';
import { message, type Message } from '../../../contract/messages.ts';
import type { InputFileProblem, InspectedFile, Judged, Repair } from '../../../contract/protocol/index.ts';
import { isBlocking } from '../../../contract/problems.ts';
import { pairProblems } from '../../../contract/readPairs.ts';
import { sampleNames, NO_DETAILS } from '../../../contract/samples.ts';
import type { RunRequest } from '../../../contract/rpc/runs.ts';
import type { AppPaths } from '../../environment/appPaths.ts';
import type { EngineContext } from '../engineContext.ts';
import { checkPrecision } from '../../devices/check/trial.ts';
import { workersWithParts } from '../../devices/selectDevices.ts';
import {
  collectInputs,
  type CollectedInputs,
  type Walk,
  inspectInputs,
  inspectUsable,
  type Reading,
} from '../../inputs/collectInputs.ts';
import type { ResolvedModel } from '../../models/modelFolder.ts';
import { importLegacy } from '../../inputs/importLegacy.ts';
import { resolveModel, resolveSecondModel } from '../../models/resolveModel.ts';
import { looksHere } from '../../models/listModels.ts';
import { trustedScores, goalRefusal } from '../goal.ts';
import { signRun } from '../madeHere.ts';
import type { LeftOutInput, StoredRun } from '../../store/types.ts';
import { createRunStore } from '../createRunStore.ts';
import { problemNoted, RunNotes } from '../runNotes.ts';
import { refuseWhenClosing } from '../../store/storeThread.ts';
import { describeStoreError } from '../../store/sqlite/database.ts';
import { safeName } from '../../system/pathLength.ts';
import type { FileLock } from '../../system/fileLock.ts';
import {
  acquireRunLock,
  checkRunFolder,
  makeRunFolder,
  makeWorkFolders,
  removeRun,
} from '../../store/runFolder.ts';
import { workerLaunch } from '../workDevice.ts';
import { chooseDevices, precisionOf, workOf, type DeviceChoice } from './chooseDevices.ts';
import { asInEarlier, givesParts, readEarlier } from './earlierRun.ts';
import { formatCount } from '../../../contract/terminal/format.ts';

export interface CreatedRun {
  runId: string;
  folder: string;
  plan: Plan;
  files: InspectedFile[];
  /** The work that this is, all files together. */
  judged: Pick<Judged, 'chunks' | 'frames' | 'residues'>;
  /** What was not used of the named folders. */
  passedOver: Pick<CollectedInputs, 'ignored' | 'someIgnored'>;
  /** What is wrong with the read pairs among them. */
  pairProblems: InputFileProblem[];
  /** The devices, checked together with model and inputs; see `isJustCreated`. */
  choice: DeviceChoice;
  /** A reading of `performance.now()`. */
  createdAt: number;
}

/** A run may wait in the queue for days, and a GPU may be given to somebody else meanwhile. */
const JUST_CREATED_MS = 30_000;

/** Whether the choices and checks from the run's creation are still recent enough to rely on. */
export function isJustCreated({ createdAt }: Pick<CreatedRun, 'createdAt'>): boolean {
  return performance.now() - createdAt < JUST_CREATED_MS;
}

interface CreateRunOptions {
  request: RunRequest;
  /** The parent folder of a run whose request names no folder. */
  defaultParent: string;
  /** Uses a free name (`..._2`) if the folder already contains something. */
  freeName?: boolean;
  /** Returns what is already known about a file, so that it need not be read again. */
  inspected?: (path: string, reading: Reading) => Promise<InspectedFile | undefined>;
  onFile?: (file: InspectedFile) => void;
  /** Walks through the folders among the inputs. */
  walk?: Walk;
}

/**
 * Inspects the inputs, makes every choice that affects the results, and creates the run's folder and
 * database.
 */
export async function createRun(
  context: EngineContext,
  options: CreateRunOptions,
): Promise<Result<CreatedRun>> {
  const { request } = options;
  const collected = await collectInputs(request.inputs, options.walk);
  if (!collected.ok) return collected;
  const model = await resolveModel(request.model, context.paths);
  if (!model.ok) return model;
  const chunkLength = request.chunkLength ?? model.value.chunkLength;
  if (chunkLength < CHUNK_LENGTH_LIMITS.min || chunkLength > CHUNK_LENGTH_LIMITS.max) {
    return failWith(
      'usage',
      `The chunk length must lie between ${CHUNK_LENGTH_LIMITS.min} and ${CHUNK_LENGTH_LIMITS.max}.`,
    );
  }
  const second = await secondLookOf(request, chunkLength, model.value, context.paths);
  if (!second.ok) return second;
  const earlier = await readEarlier(context, request.reuseEmbeddings);
  if (!earlier.ok) return earlier;
  const imports = request.reuseEmbeddings !== undefined && earlier.value === null;
  if (imports && ((request.repairs ?? []).length > 0 || request.geneticCode !== undefined))
    return failWith('usage', message('start.repairs_and_reuse'));
  const asked = asInEarlier(request, earlier.value);
  const choice = await chooseDevices(context, request, model.value);
  if (!choice.ok) return choice;
  const secondModelFolder = second.value?.model?.folder;
  const precision = precisionOf(asked.precision, choice.value);
  if (!precision.ok) return precision;
  const checked = await checkPrecision(context, model.value.planModel, precision.value, choice.value.devices);
  if (!checked.ok) return checked;

  const folder = await chooseRunFolder(options, collected.value.paths, model.value.planModel);
  const usable = await checkRunFolder(folder, request.force, collected.value.paths);
  if (!usable.ok) return usable;

  const { repairs = [], minLength, geneticCode } = request;
  const look = chunkLengthsText({ chunkLength, secondLook: second.value });
  const looks = [...new Set([look, ...(await looksHere(context.paths))])];
  const reading = { looks, repairs, minLength, geneticCode };
  // Python and PyTorch take seconds to start, in which the inputs are read.
  const [first] = choice.value.devices;
  if (first) context.warmWorkers?.startAhead(workerLaunch(context.environment, first), first.id);
  const inspected = await inspectAll(context, collected.value.paths, reading, options);
  if (!inspected.ok) return inspected;
  const leftOut = inspected.value.flatMap(({ path, problems }) => {
    const problem = problems.find(isBlocking);
    return problem ? [{ path, code: problem.code, values: problem.values }] : [];
  });
  const files = inspected.value.filter(({ path }) => leftOut.every((out) => out.path !== path));
  const [unusable] = leftOut;
  if (unusable && (request.strict || files.length === 0))
    return err(errorOf(unusable, basename(unusable.path)));

  if (request.calibrates && files.length !== 2) return failWith('usage', message('calibration.two_files'));

  const judged = judgedOf(files, look) ?? { chunks: 0, frames: 0, residues: 0 };
  const work = workOf(asked, choice.value, judged.residues);
  const parts = judged.residues / work.residuesPerPart;
  const devices = workersWithParts(request.devices, choice.value.devices, parts);
  // Scores of a second look or another genetic code have other p-values than those of a calibration.
  const trusted =
    request.calibrates || second.value || geneticCode
      ? undefined
      : await trustedScores(context.paths, model.value.planModel, chunkLength);
  const plan: Plan = {
    inputs: files.map((file) => ({ path: file.path, sizeBytes: file.size_bytes, sha256: file.sha256 ?? '' })),
    model: model.value.planModel,
    chunkLength,
    ...(second.value ? { secondLook: second.value } : {}),
    precision: precision.value,
    ...work,
    tailParts: TAIL_PARTS,
    orderSeed: 0,
    firstRound: earlier.value?.plan.firstRound ?? firstRound(judged.chunks, files.length),
    embedEqualSequencesOnce: request.embedEqualSequencesOnce,
    embeddings: request.embeddings,
    ...(repairs.length === 0 ? {} : { repairs: repairs.toSorted() }),
    ...(minLength === undefined ? {} : { minLength }),
    ...(geneticCode === undefined ? {} : { geneticCode }),
    ...(trusted ? { trusted } : {}),
    ...(earlier.value ? { earlier: earlier.value.folder } : {}),
  };
  const gives = givesParts(earlier.value, plan);
  if (!gives.ok) return gives;
  const refusal = goalRefusal(request.until, { order: plan.order, where: request.where });
  if (refusal) return err(refusal);
  const runId = randomUUID();
  const problems = pairProblems(files);
  const made = await makeFolder(context, folder, plan, runId, request, { leftOut, problems });
  return made.ok
    ? ok({
        runId,
        folder,
        plan: made.value,
        files,
        judged,
        passedOver: collected.value,
        pairProblems: [...problems.values()].flat(),
        choice: { ...choice.value, devices, secondModelFolder },
        createdAt: performance.now(),
      })
    : made;
}

/** The second look that a request asks for. */
async function secondLookOf(
  { secondChunkLength, calibrates }: RunRequest,
  chunkLength: number,
  model: ResolvedModel,
  paths: AppPaths,
): Promise<Result<Plan['secondLook']>> {
  if (secondChunkLength === undefined) return ok(undefined);
  if (!isSecondLength(secondChunkLength, chunkLength) || secondChunkLength < CHUNK_LENGTH_LIMITS.min)
    return failWith('usage', message('start.second_length', { chunkLength, secondChunkLength }));
  if (calibrates) return failWith('usage', message('calibration.one_length'));
  const second = await resolveSecondModel(model, secondChunkLength, paths);
  if (!second.ok) return second;
  return ok({ chunkLength: secondChunkLength, ...(second.value ? { model: second.value } : {}) });
}

async function inspectAll(
  context: EngineContext,
  paths: readonly string[],
  reading: Reading,
  options: Pick<CreateRunOptions, 'inspected' | 'onFile'>,
): Promise<Result<InspectedFile[]>> {
  const found = new Map<string, InspectedFile>();
  for (const path of paths) {
    const known = await options.inspected?.(path, reading);
    if (known) found.set(path, known);
  }
  const unknown = paths.filter((path) => !found.has(path));
  if (unknown.length > 0) {
    const inspected = await inspectInputs(context, unknown, reading, (file) => {
      found.set(file.path, file);
      options.onFile?.(file);
    });
    if (!inspected.ok) return inspected;
  }
  return ok(paths.map((path) => found.get(path)).filter((file) => file !== undefined));
}

/** Looks into a file that a run takes in later; what a new run would leave out is refused. */
export async function inspectAdded(
  context: EngineContext,
  { plan, inputs }: Pick<StoredRun, 'plan' | 'inputs'>,
  path: string,
  more: readonly Repair[],
): Promise<Result<PlanInput>> {
  const repairs = [...new Set([...(plan.repairs ?? []), ...more])].toSorted();
  const { minLength, geneticCode } = plan;
  const reading = { looks: [chunkLengthsText(plan)], repairs, minLength, geneticCode };
  const inspected = await inspectUsable(context, [path], reading);
  if (!inspected.ok) return inspected;
  const [file] = inspected.value;
  if (!file || inputs.some((one) => one.path === file.path && one.failure === null))
    return failWith('usage', message('run.has_input', { path }));
  const { size_bytes: sizeBytes, sha256 } = file;
  return ok({ path: file.path, sizeBytes, sha256: sha256 ?? '', added: { repairs } });
}

/** Chooses the folder for the results of a request. */
export async function chooseRunFolder(
  { request, defaultParent, freeName }: Pick<CreateRunOptions, 'request' | 'defaultParent' | 'freeName'>,
  paths: readonly string[],
  model: Pick<PlanModel, 'notice'>,
): Promise<string> {
  if (request.outputDir !== undefined) return resolve(request.outputDir);
  const folder = resolve(
    defaultParent,
    namedFolder(request.name ?? '', model) ?? defaultFolderName(paths, model),
  );
  if (freeName !== true) return folder;
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? folder : `${folder}_${number}`;
    if (await isFree(candidate)) return candidate;
  }
}

/** A folder that cannot be read counts as free: its problem is reported when the run is created. */
async function isFree(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0;
  } catch (reason) {
    return !(reason instanceof Error && 'code' in reason && reason.code === 'ENOTDIR');
  }
}

/** The longest part of a run's name in its folder's name, which leaves room for suffixes. */
const LONGEST_FOLDER_NAME_BYTES = 200;

/**
 * The folder of a run that the user has named; null if nothing of the name can be part of a folder's name.
 */
function namedFolder(name: string, model: Pick<PlanModel, 'notice'>): string | null {
  let stem = safeName(name).replace(/^-+/, '');
  while (Buffer.byteLength(stem) > LONGEST_FOLDER_NAME_BYTES) stem = safeName(stem.replace(/.$/su, ''));
  return /[\p{L}\p{N}]/u.test(stem) ? `${stem}${markSuffix(model)}` : null;
}

const COMPRESSED_NAME = new RegExp(String.raw`\.(${COMPRESSION_ENDINGS.join('|')})$`, 'i');

/**
 * The first file's name without the endings of sequence files, as the earlier tool named its folders; with
 * the mark of a model that is not for research.
 */
export function defaultFolderName(paths: readonly string[], model: Pick<PlanModel, 'notice'>): string {
  const [first = 'run'] = paths;
  const stem = basename(first)
    .replace(COMPRESSED_NAME, '')
    .replace(/\.[^.]+$/, '');
  return `${stem || 'run'}_predictions${markSuffix(model)}`;
}

const markSuffix = (model: Pick<PlanModel, 'notice'>): string =>
  modelMark(model) === null ? '' : MARK_SUFFIX;

/** Adds embeddings from an earlier run to the plan, if requested. */
async function withImport(
  context: EngineContext,
  folder: string,
  plan: Plan,
  earlier: string | undefined,
): Promise<Result<Plan>> {
  if (earlier === undefined || plan.earlier !== undefined) return ok(plan);
  const imported = await importLegacy(context, {
    folder: resolve(earlier),
    inputs: plan.inputs.map(({ path }) => path),
    chunkLength: plan.chunkLength,
    modelFolder: plan.model.folder,
    into: join(folder, IMPORTED_EMBEDDINGS_FOLDER),
  });
  return imported.ok ? ok({ ...plan, imported: imported.value }) : imported;
}

function samplesFor({ inputs }: Plan, named: Readonly<Record<string, string>>): string[] {
  const paths = inputs.map(({ path }) => path);
  return sampleNames(paths).map((name, input) => named[paths[input] ?? ''] ?? name);
}

async function makeFolder(
  context: EngineContext,
  folder: string,
  plan: Plan,
  runId: string,
  request: RunRequest,
  {
    leftOut,
    problems,
  }: {
    leftOut: readonly LeftOutInput[];
    problems: ReadonlyMap<string, readonly InputFileProblem[]>;
  },
): Promise<Result<Plan>> {
  let lock: FileLock | undefined;
  try {
    refuseWhenClosing(context.closing);
    await makeRunFolder(folder);
    lock = await acquireRunLock(folder);
    await removeRun(folder);
    makeWorkFolders(folder);
    const complete = await withImport(context, folder, plan, request.reuseEmbeddings);
    if (!complete.ok) {
      await removeRun(folder);
      return complete;
    }
    const store = await createRunStore(context, folder, complete.value, {
      runId,
      name: request.name ?? basename(folder),
      options: {
        request,
        madeHere: signRun(context.paths, folder, runId, request),
        ...(request.samples ? { samples: samplesFor(plan, request.samples) } : {}),
        ...(request.sampleDetails
          ? {
              sampleDetails: plan.inputs.map(({ path }) => request.sampleDetails?.[path] ?? NO_DETAILS),
            }
          : {}),
        leftOut: leftOut.map((one) => ({ ...one })),
      },
    });
    const notes = new RunNotes(store, () => undefined);
    for (const [input, { path }] of plan.inputs.entries())
      for (const problem of problems.get(path) ?? []) {
        await store.addInputProblem({ type: 'input_problem', input, ...problem });
        notes.add('warning', problem.code, problemNoted(path, problem));
      }
    const { imported } = complete.value;
    if (imported) {
      const detail = refusedFiles(imported).join('\n') || undefined;
      notes.add('warning', 'embeddings_imported', describeImported(imported), detail);
    }
    await notes.log.written();
    await store.close();
    return complete;
  } catch (reason) {
    const error = describeStoreError(reason, folder);
    // No run exists yet that could be resumed.
    const nextStep = 'Free some space on this disk, or choose another folder, then start again.';
    return err(error.code === 'disk_full' ? { ...error, nextStep } : error);
  } finally {
    lock?.release();
  }
}

/** Describes what was reused from an earlier run, and how that affects the results. */
export function describeImported(imported: ImportedEmbeddings): Message {
  const { folder, tool, precision, frames, framesEsm2, framesDnabertS } = imported;
  return message('note.imported', {
    folder,
    tool: message(`imported.${tool}`),
    precision: precision ?? message('imported.unknown'),
    frames: formatCount(frames),
    esm2: formatCount(framesEsm2),
    dnabertS: formatCount(framesDnabertS),
  });
}

/** The files that were not used, one per line. */
export function refusedFiles({ refused, filesRefused }: ImportedEmbeddings): string[] {
  const more = filesRefused - refused.length;
  return [
    ...refused.map(({ path, why }) => `Not used: ${path}: ${why}.`),
    ...(more > 0 ? [`Not used: ${more} more files.`] : []),
  ];
}
