import { unwrap } from '../../../contract/result.ts';
import { inputPathsSchema } from '../../../contract/rpc/runs.ts';
import { collectInputs, type EngineContext, inspectInputs, formatCount } from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { parsed } from '../../parsed.ts';
import { toStandardOutput } from '../../output/terminal.ts';

/** Reads files completely and prints what they contain and what a run would do with each. */
export async function validate(
  context: EngineContext,
  inputs: string[],
  chunkLength: number,
  json: boolean,
): Promise<number> {
  const { paths } = unwrap(await collectInputs(parsed(inputPathsSchema, inputs)));
  const blocked: string[] = [];
  unwrap(
    await inspectInputs(context, paths, { chunkLength, repairs: [] }, (file) => {
      if (file.problems.some(({ severity }) => severity === 'blocks')) blocked.push(file.path);
      if (json) {
        process.stdout.write(`${JSON.stringify(file)}\n`);
        return;
      }
      const lines = [
        `${file.path}: ${file.format}${file.compression === 'none' ? '' : `, ${file.compression}`}`,
        `  ${formatCount(file.sequences)} sequences, ${formatCount(file.bases)} bases, lengths ` +
          `${formatCount(file.min_length)} to ${formatCount(file.max_length)} (median ${formatCount(file.median_length)}), ` +
          `${formatCount(file.chunks)} chunks`,
        ...file.problems.map(
          ({ severity, message, what_happens }) => `  ${severity}: ${message} ${what_happens}`,
        ),
        ...(file.problems.length === 0 ? ['  Nothing to complain about.'] : []),
      ];
      toStandardOutput(lines.join('\n'));
    }),
  );
  return blocked.length > 0 ? EXIT.failed : EXIT.done;
}
