import { resolve } from 'node:path';
import { AppFailure, appError } from '../../contract/errors.ts';
import { runRequestSchema, type RunRequest } from '../../contract/rpc/runs.ts';
import {
  createRun,
  defaultFolderName,
  type EngineContext,
  formatBytes,
  isGpu,
  isRunFolder,
  OpenRun,
  resolveModel,
  sampleInput,
  formatCount,
} from '../../engine/index.ts';
import { legacyDevice } from '../legacyTool.ts';
import type { Reporter } from '../output/reporter.ts';
import { unwrap } from '../../contract/result.ts';
import { parsed } from '../parsed.ts';
import { followRun } from './followRun.ts';

/** What commander hands over for `predict`. */
export interface PredictFlags {
  outputDir?: string;
  model?: string;
  modelPath?: string;
  chunkLength?: number;
  devices?: string;
  precision?: string;
  tokensPerBatch?: number;
  residuesPerPart?: number;
  embedEqualSequencesOnce?: boolean;
  embeddings?: boolean | string;
  keepWork?: boolean;
  force?: boolean;
  resume?: boolean;
}

export async function predict(
  context: EngineContext,
  inputs: string[],
  flags: PredictFlags,
  reporter: Reporter,
): Promise<number> {
  const request = runRequest(inputs, flags, modelFor(context, inputs));
  if (flags.resume) {
    const folder = request.outputDir ?? (await usualFolder(context, inputs, request.model));
    if (isRunFolder(folder))
      return followRun(unwrap(await OpenRun.open(context, folder)), reporter, { devices: flags.devices });
  }
  const created = unwrap(
    await createRun(context, {
      request,
      defaultParent: process.cwd(),
      onFile: (file) => {
        reporter.line(
          `${file.path}: ${formatCount(file.sequences)} sequences, ${formatCount(file.bases)} bases, ${formatBytes(file.size_bytes)}`,
        );
        for (const problem of file.problems) {
          if (problem.severity !== 'blocks') reporter.line(`  ${problem.message} ${problem.what_happens}`);
        }
      },
    }),
  );
  const { plan } = created;
  reporter.line(
    `Model ${plan.model.title}${plan.model.notice ? ` (${plan.model.notice})` : ''}, ${plan.precision}, on ` +
      created.choice.devices
        .map((device) => (isGpu(device) ? `GPU ${device.index} ${device.name}` : device.id))
        .join(', '),
  );
  reporter.line(`Results go to ${created.folder}`);
  return followRun(unwrap(await OpenRun.open(context, created.folder)), reporter, { created });
}

async function usualFolder(context: EngineContext, inputs: string[], choice: string): Promise<string> {
  const model = await resolveModel(choice, context.paths);
  return defaultFolderName(inputs, model.ok ? model.value.planModel : { notice: null });
}

function runRequest(inputs: string[], flags: PredictFlags, defaultModel: string): RunRequest {
  return parsed(runRequestSchema, {
    inputs,
    outputDir: flags.outputDir,
    model: model(flags) ?? defaultModel,
    chunkLength: flags.chunkLength,
    devices: legacyDevice(flags.devices ?? 'auto'),
    precision: flags.precision ?? 'auto',
    tokensPerBatch: flags.tokensPerBatch,
    residuesPerPart: flags.residuesPerPart,
    embedEqualSequencesOnce: flags.embedEqualSequencesOnce,
    embeddings: flags.embeddings === true ? 'fp16' : flags.embeddings || null,
    keepWork: flags.keepWork ?? false,
    force: flags.force ?? false,
  });
}

/** The earlier tool's `--model-type custom --model-path FILE` is today's `--model FILE`. */
function model(flags: PredictFlags): string | undefined {
  if (flags.model !== undefined && flags.model !== 'custom') return flags.model;
  if (flags.modelPath !== undefined) return flags.modelPath;
  if (flags.model === 'custom') {
    throw new AppFailure(
      appError('usage', 'A custom model needs its path.', { nextStep: 'Use --model PATH.' }),
    );
  }
  return undefined;
}

/** The bundled sample is synthetic: without any other wish it goes with the demo model, everything else with the published one. */
function modelFor(context: EngineContext, inputs: string[]): string {
  const sample = sampleInput(context.paths);
  return inputs.every((input) => resolve(input) === sample) ? 'demo' : '500';
}
