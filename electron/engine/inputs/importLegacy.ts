import { z } from 'zod';
import { asAppError, err, errorOf, ok, type Result, failWith } from '../../contract/errors.ts';
import { importedEmbeddingsSchema, type ImportedEmbeddings } from '../../contract/plan.ts';
import { message } from '../../contract/messages.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { countSchema, failureOfFileSchema, sha256Schema } from '../../contract/protocol/index.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { describeExit, ReadingProcess } from '../workers/childProcess.ts';

interface LegacyImport {
  /** Folder that the earlier tool wrote. */
  folder: string;
  inputs: readonly string[];
  chunkLength: number;
  modelFolder: string;
  /** Destination of the embeddings in the run's work folder. */
  into: string;
}

const lineSchema = z.discriminatedUnion('type', [
  // A sign of life, with the embeddings file that is read next.
  z.object({ type: z.literal('reading'), path: z.string().optional() }),
  z.object({
    type: z.literal('imported'),
    tool: importedEmbeddingsSchema.shape.tool,
    precision: z.string().nullable(),
    index_sha256: sha256Schema,
    frames: countSchema,
    frames_dnabert_s: countSchema,
    frames_esm2: countSchema,
    rows_left_out: countSchema,
    files_used: countSchema,
    files_refused: countSchema,
    refused: importedEmbeddingsSchema.shape.refused,
  }),
  z.object({ type: z.literal('import_refused'), message: z.string(), next_step: z.string().nullable() }),
  failureOfFileSchema.extend({ type: z.literal('import_failed') }),
]);
type Line = z.infer<typeof lineSchema>;

/**
 * Imports embeddings that the original tool or its fork computed into a run; returns what was imported and
 * what was refused.
 */
export async function importLegacy(
  { environment }: { environment: PythonEnvironment },
  { folder, inputs, chunkLength, modelFolder, into }: LegacyImport,
): Promise<Result<ImportedEmbeddings>> {
  let answer: Line | undefined;
  let file: string | undefined;
  const reading = new ReadingProcess(pythonLaunch(environment, 'virnucpro_backend.legacy'), (line) => {
    const parsed = parseJson(lineSchema, line);
    if (parsed?.type === 'reading') file = parsed.path ?? file;
    else if (parsed) answer = parsed;
  });
  const command = {
    type: 'import_legacy',
    folder,
    inputs,
    chunk_length: chunkLength,
    model_folder: modelFolder,
    into,
  };
  reading.send(`${JSON.stringify(command)}\n`);
  try {
    const exit = await reading.ended();
    if (answer?.type === 'imported') return ok(importedFrom(folder, answer));
    if (answer?.type === 'import_failed') return err(errorOf(answer, answer.file));
    if (answer?.type === 'import_refused')
      return failWith('legacy_unusable', answer.message, { nextStep: answer.next_step ?? undefined });
    if (exit.signal !== undefined && file !== undefined) {
      return failWith('legacy_unusable', message('weights.brought_down', { file }), {
        nextStep: message('legacy.brought_down.next'),
        detail: describeExit(exit),
      });
    }
    return failWith('internal', `Taking over the embeddings stopped: ${describeExit(exit)}.`, {
      detail: exit.lastLines.join('\n'),
    });
  } catch (reason) {
    return err(asAppError(reason));
  }
}

function importedFrom(folder: string, report: Extract<Line, { type: 'imported' }>): ImportedEmbeddings {
  return {
    folder,
    tool: report.tool,
    precision: report.precision,
    indexSha256: report.index_sha256,
    frames: report.frames,
    framesDnabertS: report.frames_dnabert_s,
    framesEsm2: report.frames_esm2,
    rowsLeftOut: report.rows_left_out,
    filesUsed: report.files_used,
    filesRefused: report.files_refused,
    refused: report.refused,
  };
}
