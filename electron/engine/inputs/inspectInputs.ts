import { z } from 'zod';
import { appError, asAppError } from '../../contract/errors.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { inspectedFileSchema, type InspectedFile, type Repair } from '../../contract/protocol/index.ts';
import { err, ok, type Result } from '../../contract/result.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { describeExit, type ProcessExit } from '../workers/childProcess.ts';
import { ReadingProcess } from '../workers/readingProcess.ts';

const lineSchema = z.discriminatedUnion('type', [
  inspectedFileSchema,
  // A sign of life.
  z.object({ type: z.literal('reading') }),
]);
const LONGEST_DETAIL = 2_000;

/** The settings on which the figures of a file depend. */
export interface Reading {
  readonly chunkLength: number;
  readonly repairs: readonly Repair[];
}

/** Reads files to their end and reports their contents, one after the other, in the given order. */
export async function inspectInputs(
  { environment }: { environment: PythonEnvironment },
  paths: readonly string[],
  { chunkLength, repairs }: Reading,
  onFile: (file: InspectedFile) => void,
  signal?: AbortSignal,
): Promise<Result<void>> {
  const launch = pythonLaunch(environment, 'virnucpro_backend.prepare.inspect', [
    '--chunk-length',
    String(chunkLength),
    ...repairs.flatMap((repair) => ['--repair', repair]),
  ]);
  let files = 0;
  let garbage: string | undefined;
  const reading = new ReadingProcess(launch, (line) => {
    const parsed = parseJson(lineSchema, line);
    if (parsed === undefined) {
      garbage ??= line;
      void reading.stop();
    } else if (parsed.type === 'inspected' && garbage === undefined) {
      onFile(parsed);
      files += 1;
    }
  });
  const abort = (): void => void reading.stop();
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  // The paths are not passed as arguments: a folder of genomes holds more of them than a command line allows.
  reading.send(paths.map((path) => `${JSON.stringify(path)}\n`).join(''));
  let result: ProcessExit;
  try {
    result = await reading.ended();
  } catch (reason) {
    return err(asAppError(reason));
  } finally {
    signal?.removeEventListener('abort', abort);
  }
  if (signal?.aborted || files === paths.length) return ok(undefined);
  if (garbage !== undefined) {
    const cause = 'Looking into the files failed: its answer is not one.';
    return err(appError('internal', cause, { detail: garbage.slice(0, LONGEST_DETAIL) }));
  }
  return err(
    appError('python_broken', `Looking into the files stopped: ${describeExit(result)}.`, {
      detail: result.lastLines.join('\n'),
    }),
  );
}
