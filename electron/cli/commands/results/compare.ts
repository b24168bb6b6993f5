import { resolve } from 'node:path';
import { predictionSchema } from '../../../contract/results.ts';
import { compareRuns, type ComparedSequence, formatCount, writeComparison } from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { withRun } from '../../openRunFolder.ts';
import { textTable } from '../../output/textTable.ts';
import { toStandardOutput } from '../../output/terminal.ts';

/** Lists at most this many sequences whose call changed; `--output` writes all. */
const SHOWN = 20;

/** Compares the calls of two runs of the same sequences, such as with another model or precision. */
export async function compare(
  runs: readonly [string, string],
  flags: { output?: string; json?: boolean },
  storeHost: URL,
): Promise<number> {
  return withRun(runs[0], storeHost, (first) =>
    withRun(runs[1], storeHost, async (second) => {
      const changed: ComparedSequence[] = [];
      const comparison =
        flags.output === undefined
          ? await compareRuns(first, second, (one) => {
              if (changed.length < SHOWN) changed.push(one);
            })
          : await writeComparison(first, second, resolve(flags.output));
      const { inBoth, sameCall, scores } = comparison;
      if (flags.json === true) {
        process.stdout.write(`${JSON.stringify({ ...comparison, changed })}\n`);
        return EXIT.done;
      }
      const calls = predictionSchema.options;
      const stored = await Promise.all([first.loadRun(), second.loadRun()]);
      const lines = [
        ...stored.map(
          ({ description, plan }, i) =>
            `${i + 1}: ${description.name} (${plan.model.title}${plan.model.notice === null ? '' : `, ${plan.model.notice}`}, ${plan.precision})`,
        ),
        `${formatCount(inBoth)} sequences in both, ${formatCount(comparison.onlyInFirst)} only in the first, ` +
          `${formatCount(comparison.onlyInSecond)} only in the second`,
        '',
        ...textTable(
          ['1 \\ 2', ...calls.map((call) => `>${call}`)],
          calls.map((call) => [call, ...calls.map((other) => formatCount(comparison.calls[call][other]))]),
        ),
        '',
        `Same call: ${formatCount(sameCall)} of ${formatCount(inBoth)}` +
          (inBoth === 0 ? '' : ` (${((100 * sameCall) / inBoth).toFixed(2)} %)`),
        ...(scores === null
          ? []
          : [
              `Scores of ${formatCount(scores.compared)} sequences: correlation ${scores.correlation?.toFixed(4) ?? 'not defined'}, ` +
                `mean difference ${scores.meanDifference.toFixed(4)}, largest ${scores.largestDifference.toFixed(4)}`,
            ]),
        ...(flags.output !== undefined
          ? [`The sequences whose call changed: ${resolve(flags.output)}`]
          : changedLines(changed, inBoth - sameCall)),
      ];
      toStandardOutput(lines.join('\n'));
      return EXIT.done;
    }),
  );
}

function changedLines(changed: readonly ComparedSequence[], total: number): string[] {
  if (total === 0) return [];
  const score = (value: number | null): string => value?.toFixed(4) ?? '-';
  return [
    '',
    ...textTable(
      ['changed', '>length', 'call 1', '>score 1', 'call 2', '>score 2'],
      changed.map(({ seqName, length, first, second }) => [
        seqName,
        formatCount(length),
        first.prediction,
        score(first.virusScore),
        second.prediction,
        score(second.virusScore),
      ]),
    ),
    ...(total > changed.length
      ? [`and ${formatCount(total - changed.length)} more; --output FILE writes all.`]
      : []),
  ];
}
