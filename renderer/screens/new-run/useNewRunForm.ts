import {
  useQueries,
  useQuery,
  keepPreviousData,
  skipToken,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo } from 'react';
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
import { adviseLook, judgedByLooks, lengthsOfLook } from '../../state/newRun/modelAdvice.ts';
import { lacksEnvironment, useEnvironment } from '../../state/computer/environment.ts';
import { inspectedOf, type InputTotals, totalsOf } from '../../state/newRun/inspection.ts';
import { startReasons, type StartReason } from '../../state/newRun/startReasons.ts';
import { useNewRun } from '../../state/newRun/store.ts';

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
  /** The run as Start will create it; null if something is missing. */
  readonly planned: RunRequestInput | null;
  readonly estimate: RunEstimate | null;
  readonly estimateError: Error | null;
  /** The problem with the results folder; shown at its field. */
  readonly folderError: ShownError | null;
  readonly estimating: boolean;
  readonly reasons: readonly StartReason[];
}

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
  const lacks = useEnvironment(({ status }) => lacksEnvironment(status));
  const gpus = chosenGpus(choices, probe.data ?? null);
  const totals = useMemo(() => totalsOf(files), [files]);
  const planned = useMemo(
    () => (files.length > 0 && model ? requestFrom(choices, files, model, probe.data ?? null) : null),
    [choices, files, model, probe.data],
  );
  const question = useMemo(() => {
    if (looking || !planned || !model) return null;
    const { secondChunkLength: second } = planned;
    const secondLook = second === undefined ? undefined : { chunkLength: second };
    const work = judgedOf(
      inspectedOf(files),
      chunkLengthsText({ chunkLength: model.chunkLength, secondLook }),
    );
    return work && { request: planned, chunks: work.chunks, frames: work.frames, residues: work.residues };
  }, [looking, planned, model, files]);
  const [asked] = useDebouncedValue(question, 250);
  const answer = useQuery({
    ...queries.runs.estimate.queryOptions({ input: asked ?? skipToken }),
    placeholderData: keepPreviousData,
  });
  const estimate = (question && answer.data) ?? null;
  const estimateError = answer.error;

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
    model,
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
    planned,
    estimate,
    estimateError: folderError ? null : estimateError,
    folderError,
    estimating: question !== null && (answer.isFetching || asked !== question),
    reasons,
  };
}

/** The error, if it concerns the results folder. */
function aboutFolder(error: ShownError | null): ShownError | null {
  const isFolder = error?.code.startsWith('folder_') || error?.wording?.cause?.key === 'start.outside_root';
  return isFolder ? error : null;
}
