import { execa } from 'execa';
import { z } from 'zod';
import { appError, AppFailure, type ErrorCode } from '../../contract/errors.ts';
import { prepareFailureCodeSchema } from '../../contract/protocol/index.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import type { ExtractionRequest } from '../results/types.ts';

const answerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('extracted'), records: z.int() }),
  z.object({
    type: z.literal('extract_failed'),
    code: prepareFailureCodeSchema,
    message: z.string(),
    next_step: z.string(),
  }),
]);

/** Streams the inputs once more and writes the wanted records to a file, header lines unchanged. */
export async function extractRecords(
  environment: PythonEnvironment,
  request: ExtractionRequest,
): Promise<void> {
  const launch = pythonLaunch(environment, 'virnucpro_backend.prepare.extract');
  const { stdout, stderr } = await execa(launch.file, launch.args, {
    env: launch.env,
    extendEnv: false,
    reject: false,
    windowsHide: true,
    input: `${JSON.stringify({ type: 'extract', inputs: request.inputs, rows_path: request.rowsPath, out_path: request.outPath })}\n`,
  });
  const answer = parseAnswer(stdout);
  if (answer?.type === 'extracted') return;
  if (!answer) {
    throw new AppFailure(
      appError('internal', 'Taking the sequences out of the inputs stopped unexpectedly.', {
        detail: stderr,
      }),
    );
  }
  const code: ErrorCode = answer.code === 'internal_error' ? 'internal' : answer.code;
  throw new AppFailure(appError(code, answer.message, { nextStep: answer.next_step }));
}

function parseAnswer(stdout: string): z.infer<typeof answerSchema> | undefined {
  try {
    return answerSchema.safeParse(JSON.parse(stdout)).data;
  } catch {
    return undefined;
  }
}
