import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useMemo } from 'react';
import type {
  ModelStatus,
  ProbeResult,
  ProbedGpu,
  RunEstimate,
  RunRequestInput,
} from '../../../electron/contract/index.ts';
import type { ShownError } from '../../api/callError.ts';
import { useConnectionStatus } from '../../state/connection.ts';
import {
  chosenGpus,
  chosenModel,
  expectsGpus,
  requestFrom,
  type RunChoices,
} from '../../state/newRun/choices.ts';
import { totalsOf, type InputTotals } from '../../state/newRun/inspection.ts';
import { startReasons, type StartReason } from '../../state/newRun/startReasons.ts';
import { setChunkLength, useNewRun } from '../../state/newRun/store.ts';
import { useQuery, type Query } from '../../state/useQuery.ts';

export interface NewRunForm {
  readonly choices: RunChoices;
  readonly models: Query<ModelStatus[]>;
  readonly probe: Query<ProbeResult>;
  readonly model: ModelStatus | null;
  readonly gpus: readonly ProbedGpu[];
  /** Whether the run may use GPUs; else it is the processor, without a question. */
  readonly hasGpus: boolean;
  readonly totals: InputTotals;
  readonly request: RunRequestInput | null;
  readonly estimate: RunEstimate | null;
  readonly estimateError: ShownError | null;
  readonly estimating: boolean;
  readonly reasons: readonly StartReason[];
}

/** Everything the New run screen shows, from the choices made and what the engine says to them. */
export function useNewRunForm(): NewRunForm {
  const { files, looking, uploads, choices } = useNewRun();
  const connection = useConnectionStatus();
  const models = useQuery('models', (client, signal) => client.computer.models(undefined, { signal }));
  const probe = useQuery('devices', (client, signal) => client.computer.devices(undefined, { signal }));

  const model = chosenModel(choices, models.data);
  const gpus = chosenGpus(choices, probe.data);
  const totals = useMemo(() => totalsOf(files), [files]);
  const request = useMemo(
    () => (model && files.length > 0 ? requestFrom(choices, files, model, probe.data) : null),
    [choices, files, model, probe.data],
  );

  const question = useMemo(
    () => (request && !looking ? { request, bases: totals.bases, chunks: totals.chunks } : null),
    [request, looking, totals.bases, totals.chunks],
  );
  const [asked] = useDebouncedValue(question, 250);
  const estimate = useQuery(asked === null ? null : `estimate:${JSON.stringify(asked)}`, (client, signal) =>
    client.runs.estimate(asked ?? { request: { inputs: [] }, bases: 0, chunks: 0 }, { signal }),
  );

  useEffect(() => {
    if (model) setChunkLength(model.chunkLength);
  }, [model]);

  const hasGpus = expectsGpus(choices, probe.data);
  const reasons = startReasons({
    connection,
    files,
    uploads: uploads.length,
    looking,
    model,
    chosenGpus: hasGpus && !choices.useCpu ? gpus.length : null,
    estimate: question === null ? null : estimate.data,
  });
  return {
    choices,
    models,
    probe,
    model,
    gpus,
    hasGpus,
    totals,
    request,
    estimate: question === null ? null : estimate.data,
    estimateError: estimate.error,
    estimating: question !== null && (estimate.loading || asked !== question),
    reasons,
  };
}
