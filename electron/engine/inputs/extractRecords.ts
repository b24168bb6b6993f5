import { z } from 'zod';
import { AppFailure, appFailure, errorOf } from '../../contract/errors.ts';
import { parseJson } from '../../contract/parseJson.ts';
import { failureOfFileSchema, type Repair } from '../../contract/protocol/index.ts';
import { pythonLaunch, type PythonEnvironment } from '../environment/pythonLaunch.ts';
import { ReadingProcess } from '../workers/childProcess.ts';

/** A request to read the inputs again and write the complete records of `rowsPath` to `outPath`. */
export interface ExtractionRequest {
  inputs: { path: string; sha256: string; repairs: readonly Repair[] }[];
  /** Row numbers, ascending, as little-endian U32. */
  rowsPath: string;
  outPath: string;
  /** Appended to every header line, such as the mark of the teaching model. */
  headerSuffix?: string | undefined;
}

/** Resolves when `outPath` is complete; rejects with AppFailure (`input_changed`, `input_not_found`, ...). */
export type ExtractRecords = (request: ExtractionRequest) => Promise<void>;

const answerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('extracted'), records: z.int() }),
  failureOfFileSchema.extend({ type: z.literal('extract_failed') }),
]);
type Answer = z.infer<typeof answerSchema>;

/**
 * A process that loads its libraries while it is still unknown which records are wanted. It accepts one
 * request.
 */
export class Extraction {
  private readonly process: ReadingProcess;
  private answer: Answer | undefined;
  private asked = false;

  constructor(environment: PythonEnvironment) {
    const launch = pythonLaunch(environment, 'virnucpro_backend.prepare.extract');
    this.process = new ReadingProcess(launch, (line) => {
      this.answer = parseJson(answerSchema, line) ?? this.answer;
    });
  }

  /**
   * Reads the inputs again and writes the wanted records to a file, with the header lines that the run knows
   * and the suffix.
   */
  async run({ inputs, rowsPath, outPath, headerSuffix = '' }: ExtractionRequest): Promise<void> {
    const command = {
      type: 'extract',
      inputs: inputs.map(({ path, sha256, repairs }) => ({ path, sha256, repairs })),
      rows_path: rowsPath,
      out_path: outPath,
      header_suffix: headerSuffix,
    };
    this.asked = true;
    this.process.send(`${JSON.stringify(command)}\n`);
    const { lastLines } = await this.process.ended();
    checkAnswer(this.answer, lastLines.join('\n'));
  }

  /** Ends the process early: `run` rejects, and no file appears. */
  cancel(): Promise<void> {
    return this.process.stop();
  }

  /** Call this if there turns out to be nothing to do. It is harmless after `run`. */
  async dismiss(): Promise<void> {
    if (!this.asked) await this.process.stop();
  }
}

function checkAnswer(answer: Answer | undefined, stderr: string): void {
  if (answer?.type === 'extracted') return;
  if (!answer) {
    throw appFailure('internal', 'Taking the sequences out of the inputs stopped unexpectedly.', {
      detail: stderr,
    });
  }
  throw new AppFailure(errorOf(answer, answer.file));
}
