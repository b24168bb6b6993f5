import { useQuery, keepPreviousData, skipToken, type UseQueryResult } from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useMemo } from 'react';
import type {
  ModelStatus,
  ProbeResult,
  ProbedGpu,
  RunEstimate,
  RunRequestInput,
} from '../../../electron/contract/index.ts';
import { toShownError, type ShownError } from '../../api/callError.ts';
import { queries, useConnectionStatus } from '../../state/connection.ts';
import {
  chosenGpus,
  chosenModel,
  expectsGpus,
  isPlaceKnown,
  requestFrom,
  type RunChoices,
} from '../../state/newRun/choices.ts';
import { adviseModel, type ModelAdvice } from '../../state/newRun/modelAdvice.ts';
import { lacksEnvironment, useEnvironment } from '../../state/computer/environment.ts';
import { type InputTotals, totalsOf } from '../../state/newRun/inspection.ts';
import { startReasons, type StartReason } from '../../state/newRun/startReasons.ts';
import { setChunkLength, useNewRun } from '../../state/newRun/store.ts';

export interface NewRunForm {
  readonly choices: RunChoices;
  readonly models: UseQueryResult<ModelStatus[]>;
  readonly probe: UseQueryResult<ProbeResult>;
  readonly model: ModelStatus | null;
  readonly advice: ModelAdvice | null;
  readonly gpus: readonly ProbedGpu[];
  /** Whether the run may use GPUs; else it is the processor, without a question. */
  readonly hasGpus: boolean;
  /** Whether GPUs compute, here or in a cluster. */
  readonly onGpus: boolean;
  readonly totals: InputTotals;
  readonly request: RunRequestInput | null;
  readonly estimate: RunEstimate | null;
  readonly estimateError: Error | null;
  /** What is wrong with the results folder; said at its field. */
  readonly folderError: ShownError | null;
  readonly estimating: boolean;
  readonly reasons: readonly StartReason[];
}

const NO_GPUS: readonly ProbedGpu[] = [];

/** Everything the New run screen shows, from the choices made and what the engine says to them. */
export function useNewRunForm(): NewRunForm {
  const { files, looking, uploads, choices } = useNewRun();
  const connection = useConnectionStatus();
  const models = useQuery(queries.computer.models.queryOptions());
  const probe = useQuery(queries.computer.devices.queryOptions());

  const advice = useMemo(() => adviseModel(files, models.data ?? null), [files, models.data]);
  const advised = models.data?.find(
    ({ notice, chunkLength }) => notice === null && chunkLength === advice?.chunkLength,
  );
  const model = chosenModel(choices, models.data ?? null, advised?.id ?? null);
  const lacks = useEnvironment(({ status }) => lacksEnvironment(status));
  const isHere = choices.where.kind === 'this_computer';
  const gpus = isHere ? chosenGpus(choices, probe.data ?? null) : NO_GPUS;
  const totals = useMemo(() => totalsOf(files), [files]);
  const request = useMemo(
    () =>
      model && files.length > 0 && isPlaceKnown(choices.where)
        ? requestFrom(choices, files, model, probe.data ?? null)
        : null,
    [choices, files, model, probe.data],
  );

  const question = useMemo(
    () =>
      request && !looking
        ? { request, chunks: totals.chunks, frames: totals.frames, residues: totals.residues }
        : null,
    [request, looking, totals],
  );
  const [asked] = useDebouncedValue(question, 250);
  const estimate = useQuery({
    ...queries.runs.estimate.queryOptions({ input: asked ?? skipToken }),
    placeholderData: keepPreviousData,
  });

  useEffect(() => {
    if (model) setChunkLength(model.chunkLength);
  }, [model]);

  const folderError = aboutFolder(
    estimate.error ? toShownError(estimate.error) : (estimate.data?.blocker ?? null),
  );
  const hasGpus = expectsGpus(choices, probe.data ?? null);
  const onGpus = hasGpus && (!isHere || !choices.useCpu);
  const reasons = startReasons({
    connection,
    files,
    uploads: uploads.length,
    looking,
    lacksEnvironment: lacks,
    modelsKnown: models.data !== undefined,
    model,
    unknownPlace:
      choices.where.kind === 'this_computer' || isPlaceKnown(choices.where) ? null : choices.where.kind,
    chosenGpus: isHere && onGpus ? gpus.length : null,
    estimate: question === null ? null : (estimate.data ?? null),
    folderError,
  });
  return {
    choices,
    models,
    probe,
    model,
    advice,
    gpus,
    hasGpus,
    onGpus,
    totals,
    request,
    estimate: question === null ? null : (estimate.data ?? null),
    estimateError: folderError ? null : estimate.error,
    folderError,
    estimating: question !== null && (estimate.isFetching || asked !== question),
    reasons,
  };
}

/** The error where it is the results folder's. */
function aboutFolder(error: ShownError | null): ShownError | null {
  const isFolder = error?.code.startsWith('folder_') || error?.wording?.cause?.key === 'start.outside_root';
  return isFolder ? error : null;
}
