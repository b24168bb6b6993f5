import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { appError, AppFailure } from '../../../contract/errors.ts';
import { parseJson } from '../../../contract/parseJson.ts';
import { planSchema } from '../../../contract/plan.ts';
import { repairSchema } from '../../../contract/protocol/index.ts';
import { predictCommand, type RepeatableRun } from '../../../contract/terminal/predictCommand.ts';
import { runRequestSchema } from '../../../contract/rpc/runs.ts';
import { EXIT } from '../../exitCodes.ts';
import { withRun } from '../../openRunFolder.ts';
import { toStandardOutput } from '../../output/terminal.ts';

/** Prints the command that repeats a run. A run.json alone is enough. */
export async function command(run: string, storeHost: URL): Promise<number> {
  const repeatable = run.endsWith('.json') ? await fromRunJson(resolve(run)) : await fromRun(run, storeHost);
  toStandardOutput(predictCommand(repeatable));
  return EXIT.done;
}

function fromRun(run: string, storeHost: URL): Promise<RepeatableRun> {
  return withRun(run, storeHost, async (store) => {
    const { plan, description } = await store.loadRun();
    return { plan, request: runRequestSchema.parse(description.options['request']), folder: store.folder };
  });
}

const plan = planSchema.shape;
const runJsonSchema = z.object({
  notice: plan.model.shape.notice,
  run: z.object({ options: z.object({ request: runRequestSchema }) }),
  plan: z.object({
    chunk_length: plan.chunkLength,
    precision: plan.precision,
    tokens_per_batch: plan.tokensPerBatch,
    residues_per_part: plan.residuesPerPart,
    order: plan.order,
    embed_equal_sequences_once: plan.embedEqualSequencesOnce,
    embeddings: plan.embeddings,
    // Absent from the run.json of earlier versions.
    repairs: z.array(repairSchema).optional(),
    model: z.object({ name: z.string(), folder: z.string() }),
  }),
  inputs: z.array(z.object({ path: z.string() })).min(1),
});

async function fromRunJson(path: string): Promise<RepeatableRun> {
  const text = await readFile(path, 'utf8').catch((reason: unknown) => {
    throw new AppFailure(appError('input_unreadable', `${path} cannot be read: ${String(reason)}`));
  });
  const stored = parseJson(runJsonSchema, text);
  if (!stored) throw new AppFailure(appError('usage', `${path} is no run.json of this program.`));
  const { notice, run, plan: made, inputs } = stored;
  return {
    plan: {
      inputs,
      model: { ...made.model, notice },
      chunkLength: made.chunk_length,
      precision: made.precision,
      tokensPerBatch: made.tokens_per_batch,
      residuesPerPart: made.residues_per_part,
      order: made.order,
      embedEqualSequencesOnce: made.embed_equal_sequences_once,
      embeddings: made.embeddings,
      ...(made.repairs ? { repairs: made.repairs } : {}),
    },
    request: run.options.request,
    folder: dirname(path),
  };
}
