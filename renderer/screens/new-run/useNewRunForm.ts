import {
  useQueries,
  useQuery,
  keepPreviousData,
  skipToken,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useMemo } from 'react';
import {
  chunkLengthsText,
  judgedOf,
  type JudgedFiles,
  type ModelStatus,
  type ProbeResult,
  type ProbedGpu,
  type RunEstimate,
  type RunRequestInput,
} from '../../../electron/contract/index.ts';
import { toShownError, type ShownError } from '../../api/callError.ts';
import { queries, useConnectionStatus } from '../../state/connection.ts';
import {
  chosenGpus,
  chosenModel,
  hasAmbiguousLine,
  expectsGpus,
  requestFrom,
  secondLookOf,
  type RunChoices,
} from '../../state/newRun/choices.ts';
import { adviseLook, judgedByLooks, lengthsOfLook, splitByLength } from '../../state/newRun/modelAdvice.ts';
import { lacksEnvironment, useEnvironment } from '../../state/computer/environment.ts';
import { inspectedOf, type InputTotals, type ListedFile, totalsOf } from '../../state/newRun/inspection.ts';
import { startReasons, type StartReason } from '../../state/newRun/startReasons.ts';
import { setChunkLengths, useNewRun } from '../../state/newRun/store.ts';

export interface NewRunForm {
  readonly choices: RunChoices;
  readonly models: UseQueryResult<ModelStatus[]>;
  readonly probe: UseQueryResult<ProbeResult>;
  readonly model: ModelStatus | null;
  /** What each look of the models for research judges of the files, and how long it takes, if that is known. */
  readonly judged: readonly (JudgedFiles & Pick<RunEstimate, 'seconds'>)[];
  /** The look of those that is advised. */
  readonly advice: JudgedFiles | null;
  readonly gpus: readonly ProbedGpu[];
  /** Whether the run may use GPUs; otherwise the processor is used without asking. */
  readonly hasGpus: boolean;
  /** Whether GPUs compute. */
  readonly onGpus: boolean;
  readonly totals: InputTotals;
  /** Set if there are both reads and contigs, and each kind could have a run with the model that fits. */
  readonly split: SplitFiles | null;
  /** The runs that Start creates: one, or two. Empty if something is missing. */
  readonly planned: readonly PlannedRun[];
  /** The estimate for all of them together. */
  readonly estimate: RunEstimate | null;
  readonly estimateError: Error | null;
  /** The problem with the results folder; shown at its field. */
  readonly folderError: ShownError | null;
  readonly estimating: boolean;
  readonly reasons: readonly StartReason[];
}

/** A run as Start will create it. */
export interface PlannedRun {
  readonly model: ModelStatus;
  readonly files: readonly ListedFile[];
  readonly request: RunRequestInput;
}

type SplitFiles = NonNullable<ReturnType<typeof splitByLength>>;

/** Everything that the New run screen shows, derived from the user's choices and the engine's answers to them. */
export function useNewRunForm(): NewRunForm {
  const { files, looking, uploads, choices: chosen, sheetError } = useNewRun();
  const connection = useConnectionStatus();
  const models = useQuery(queries.computer.models.queryOptions());
  const probe = useQuery(queries.computer.devices.queryOptions());

  const known = models.data ?? null;
  const published = (length?: number) =>
    known
      ?.filter(({ notice, chunkLength }) => notice === null && chunkLength === length)
      .toSorted((a, b) => Number(b.present) - Number(a.present))[0] ?? null;
  const advice = useMemo(() => adviseLook(files, known), [files, known]);
  const [advised, second] = lengthsOfLook(advice?.look ?? '');
  const split = useMemo(() => splitByLength(files, known), [files, known]);
  const model = chosenModel(chosen, known, published(advised)?.id ?? null);
  const choices = useMemo(() => {
    if (chosen.secondChunkLength !== 'advised') return chosen;
    // Only a published model has another one of its family for shorter chunks.
    const fits =
      model?.kind === 'published' &&
      model.chunkLength === advised &&
      secondLookOf(model, known ?? [])?.missing === null;
    return { ...chosen, secondChunkLength: fits ? second : null };
  }, [chosen, model, known, advised, second]);
  const looks = useMemo(() => (looking ? [] : judgedByLooks(files, known)), [looking, files, known]);
  const times = useQueries({
    queries: looks.map(({ look, chunks, frames, residues }) => {
      const [length, secondChunkLength] = lengthsOfLook(look);
      const of = published(length);
      // A name or a folder does not change how long a run takes.
      const asked = { ...choices, name: '', outputDir: null, secondChunkLength };
      const input = of && {
        request: requestFrom(asked, files, of, probe.data ?? null),
        ...{ chunks, frames, residues },
      };
      return queries.runs.estimate.queryOptions({ input: input ?? skipToken });
    }),
  });
  const judged = looks.map((one, place) => ({ ...one, seconds: times[place]?.data?.seconds ?? null }));
  const shorter = published(split?.shorter.chunkLength);
  const longer = published(split?.longer.chunkLength);
  const lacks = useEnvironment(({ status }) => lacksEnvironment(status));
  const gpus = chosenGpus(choices, probe.data ?? null);
  const totals = useMemo(() => totalsOf(files), [files]);
  const planned = useMemo((): PlannedRun[] => {
    if (files.length === 0) return [];
    const plan = (of: ModelStatus, some: readonly ListedFile[], own: RunChoices = choices): PlannedRun => ({
      model: of,
      files: some,
      request: requestFrom(own, some, of, probe.data ?? null),
    });
    if (choices.twoRuns && split && shorter && longer)
      return [
        plan(shorter, split.shorter.files, oneOfTwo(choices, shorter)),
        plan(longer, split.longer.files, oneOfTwo(choices, longer)),
      ];
    return model ? [plan(model, files)] : [];
  }, [choices, files, model, split, shorter, longer, probe.data]);

  const questions = useMemo(
    () =>
      looking
        ? []
        : planned.flatMap(({ request, files: some, model: of }) => {
            const cut = { chunkLength: of.chunkLength, secondLook: secondOf(request) };
            const work = judgedOf(inspectedOf(some), chunkLengthsText(cut));
            return work
              ? [{ request, chunks: work.chunks, frames: work.frames, residues: work.residues }]
              : [];
          }),
    [planned, looking],
  );
  const [asked] = useDebouncedValue(questions, 250);
  const first = useEstimate(asked[0]);
  const other = useEstimate(asked[1]);
  const estimate = questions.length === 0 ? null : together(first.data, questions[1] ? other.data : null);
  const estimateError = first.error ?? other.error;

  useEffect(() => {
    // Until all files are known, each of them can change which model fits.
    if (looking) return;
    const [one, two] = planned;
    if (two) setChunkLengths(two.model.chunkLength, lengthsOf(one));
    else if (model) setChunkLengths(model.chunkLength);
  }, [looking, planned, model]);

  const folderError = aboutFolder(estimateError ? toShownError(estimateError) : (estimate?.blocker ?? null));
  const hasGpus = expectsGpus(choices, probe.data ?? null);
  const onGpus = hasGpus && !choices.useCpu;
  const reasons = startReasons({
    connection,
    files,
    uploads: uploads.length,
    sheetHasFault: sheetError !== null || hasAmbiguousLine(choices, files),
    looking,
    lacksEnvironment: lacks,
    modelsKnown: models.data !== undefined,
    model: planned.find(({ model: one }) => !one.present || one.problem)?.model ?? planned[0]?.model ?? model,
    chosenGpus: onGpus ? gpus.length : null,
    estimate,
    folderError,
  });
  return {
    choices,
    models,
    probe,
    model,
    judged,
    advice,
    gpus,
    hasGpus,
    onGpus,
    totals,
    split,
    planned,
    estimate,
    estimateError: folderError ? null : estimateError,
    folderError,
    estimating: questions.length > 0 && (first.isFetching || other.isFetching || asked !== questions),
    reasons,
  };
}

const secondOf = ({ secondChunkLength: chunkLength }: RunRequestInput) =>
  chunkLength === undefined ? undefined : { chunkLength };

type Question = Parameters<typeof queries.runs.estimate.queryOptions>[0]['input'];

const useEstimate = (question: Question | undefined) =>
  useQuery({
    ...queries.runs.estimate.queryOptions({ input: question ?? skipToken }),
    placeholderData: keepPreviousData,
  });

/** The estimate for two runs, one after the other; null until both are known. */
function together(
  first: RunEstimate | undefined,
  second: RunEstimate | null | undefined,
): RunEstimate | null {
  if (!first || second === undefined) return null;
  if (second === null) return first;
  const [a, b] = [first.seconds, second.seconds];
  return {
    ...first,
    seconds: a && b ? { low: a.low + b.low, high: a.high + b.high } : null,
    basis: first.basis && second.basis,
    diskBytes: first.diskBytes + second.diskBytes,
    blocker: first.blocker ?? second.blocker,
  };
}

/** Gives each of two runs a name and a folder of its own. */
function oneOfTwo(choices: RunChoices, { id }: ModelStatus): RunChoices {
  const name = choices.name.trim();
  return {
    ...choices,
    name: name && `${name} ${id}`,
    outputDir: choices.outputDir === null ? null : `${choices.outputDir}/${id}`,
  };
}

const lengthsOf = (run: PlannedRun | undefined): Record<string, number> =>
  Object.fromEntries(run?.files.map(({ path }) => [path, run.model.chunkLength]) ?? []);

/** The error, if it concerns the results folder. */
function aboutFolder(error: ShownError | null): ShownError | null {
  const isFolder = error?.code.startsWith('folder_') || error?.wording?.cause?.key === 'start.outside_root';
  return isFolder ? error : null;
}
