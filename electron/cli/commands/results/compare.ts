import { appFailure } from '../../../contract/errors.ts';
import { chunkLengthsText } from '../../../contract/plan.ts';
import { resolve } from 'node:path';
import type { CallAgreement, DifferingChunk } from '../../../contract/rpc/results.ts';
import { predictionSchema, RESULT_FILES } from '../../../contract/results.ts';
import {
  agreementPath,
  compareRuns,
  compareWithOriginal,
  type ComparedSequence,
  formatCount,
  formatPercent,
  isOriginalResult,
  type RunStore,
  writeComparison,
  writeOriginalComparison,
} from '../../../engine/index.ts';
import { EXIT } from '../../exitCodes.ts';
import { runFolderOf, withRun } from '../../openEngine.ts';
import { textTable, toStandardOutput } from '../../output/terminal.ts';

/** The number of sequences or chunks with another call that are printed; `--output` writes all. */
const SHOWN = 20;

/**
 * Compares the calls of two runs of the same sequences, for example with another model or precision, or of a
 * run and the original tool.
 */
export async function compare(
  run: string,
  file: string,
  flags: { output?: string; json?: boolean },
): Promise<number> {
  if (await isOriginalResult(file)) return withRun(run, (store) => compareFile(store, file, flags));
  if (runFolderOf(file) === undefined)
    throw appFailure('usage', `${file} is neither a run nor a result of the original VirNucPro.`, {
      nextStep: `Name the folder of a run, or the original's ${RESULT_FILES.originalFrames} or ${RESULT_FILES.originalChunks}. predict makes a run of a sequence file.`,
    });
  return withRun(run, (first) =>
    withRun(file, async (second) => {
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
        ...doubts(comparison),
        '',
        ...textTable(
          ['1 \\ 2', ...calls.map((call) => `>${call}`)],
          calls.map((call) => [call, ...calls.map((other) => formatCount(comparison.calls[call][other]))]),
        ),
        '',
        `Same call: ${formatCount(sameCall)} of ${formatCount(inBoth)}` +
          (inBoth === 0 ? '' : ` (${formatPercent(sameCall / inBoth, 2)})`),
        '',
        ...agreementLines(comparison.agreement),
        '',
        ...(scores === null
          ? []
          : [
              `Scores of ${formatCount(scores.compared)} sequences: correlation ${scores.correlation?.toFixed(4) ?? 'not defined'}, ` +
                `mean absolute difference ${scores.meanAbsoluteDifference.toFixed(4)}, largest ${scores.largestDifference.toFixed(4)}`,
            ]),
        ...(flags.output !== undefined
          ? [
              `The sequences whose call changed: ${resolve(flags.output)}`,
              `The agreement by sample and file: ${agreementPath(resolve(flags.output))}`,
            ]
          : changedLines(changed, inBoth - sameCall)),
      ];
      toStandardOutput(lines.join('\n'));
      return EXIT.done;
    }),
  );
}

/** A single file says what all do. */
function agreementLines(agreement: readonly CallAgreement[]): string[] {
  return [
    ...textTable(
      ['sample', 'file', '>called in both', '>same call', '>share', ">Cohen's kappa"],
      agreement
        .slice(0, agreement.length === 2 ? 1 : undefined)
        .map(({ sample, file, called, sameCall, kappa }) => [
          ...[sample ?? 'all', file ?? 'all', formatCount(called), formatCount(sameCall)],
          called === 0 ? '-' : formatPercent(sameCall / called, 2),
          kappa?.toFixed(4) ?? '-',
        ]),
    ),
    'Of the sequences that both runs call virus or other; kappa is 1 if all calls agree, 0 if as often as by chance.',
  ];
}

/** What may have matched sequences wrongly. */
function doubts({
  changedInputs,
  otherInputs,
  matchedByOrder,
}: Awaited<ReturnType<typeof compareRuns>>): string[] {
  return [
    ...(changedInputs.length === 0
      ? []
      : [`The same name but another content in both runs: ${changedInputs.join(', ')}`]),
    ...(otherInputs.first.length === 0
      ? []
      : [
          `Without a file of the same content or name in the other run, so compared by the names of sequences alone: ` +
            `${otherInputs.first.join(', ')} in the first, ${otherInputs.second.join(', ')} in the second`,
        ]),
    ...(matchedByOrder === 0
      ? []
      : [
          `Warning: the names of ${formatCount(matchedByOrder)} of them are not unique; they were matched in their order.`,
        ]),
  ];
}

/** Compares a run with a result file of the original tool, chunk by chunk. */
async function compareFile(
  store: RunStore,
  file: string,
  flags: { output?: string; json?: boolean },
): Promise<number> {
  const differing: DifferingChunk[] = [];
  const found =
    flags.output === undefined
      ? await compareWithOriginal(store, file, (one) => {
          if (differing.length < SHOWN) differing.push(one);
        })
      : await writeOriginalComparison(store, file, resolve(flags.output));
  if (flags.json === true) {
    process.stdout.write(`${JSON.stringify({ ...found, differing })}\n`);
    return EXIT.done;
  }
  const { description, plan } = await store.loadRun();
  const { inBoth, sameCall, calls, onlyInRun, onlyInFile, frames, scores, ambiguous } = found;
  const missing = (place: string, { count, examples }: typeof onlyInRun): string[] =>
    count === 0
      ? []
      : [`Only in the ${place}: ${examples.join(', ')}${count > examples.length ? ' ...' : ''}`];
  const lines = [
    `Run: ${description.name} (${plan.model.title}${plan.model.notice === null ? '' : `, ${plan.model.notice}`}, ${plan.precision}, chunks of ${chunkLengthsText(plan)} bp)`,
    `File: ${file} (${formatCount(found.lines)} ${found.kind === 'frames' ? 'reading frames' : 'chunks'})`,
    `${formatCount(inBoth)} chunks in both, ${formatCount(onlyInRun.count)} only in the run, ${formatCount(onlyInFile.count)} only in the file` +
      (ambiguous === 0
        ? ''
        : `; ${formatCount(ambiguous)} of the file not compared, since their names occur more than once`),
    ...missing('run', onlyInRun),
    ...missing('file', onlyInFile),
    ...(onlyInRun.count + onlyInFile.count === 0
      ? []
      : [
          `Chunks are matched by their ids. If the file comes from other inputs, or from chunks of another length than ${plan.chunkLength} bp, compare a run of the same inputs with the model of that length.`,
        ]),
    '',
    ...textTable(
      ['run \\ file', '>virus', '>others'],
      CHUNK_CALLS.map((call) => [call, ...CHUNK_CALLS.map((other) => formatCount(calls[call][other]))]),
    ),
    '',
    `Same call: ${shareOf(sameCall, inBoth)} chunks`,
    ...(frames === null
      ? []
      : [
          `Same call: ${shareOf(frames.sameCall, frames.inBoth)} reading frames of these chunks; ` +
            `${formatCount(frames.onlyInRun)} only in the run, ${formatCount(frames.onlyInFile)} only in the file`,
        ]),
    ...(scores === null
      ? []
      : [
          `Virus scores of ${formatCount(scores.compared)} reading frames: correlation ${scores.correlation?.toFixed(6) ?? 'not defined'}, ` +
            `mean absolute difference ${inShort(scores.meanAbsoluteDifference)}, largest ${inShort(scores.largestDifference)}`,
        ]),
    ...(flags.output !== undefined
      ? [`The chunks whose call differs: ${resolve(flags.output)}`]
      : differingLines(differing, inBoth - sameCall)),
  ];
  toStandardOutput(lines.join('\n'));
  return EXIT.done;
}

const CHUNK_CALLS = ['virus', 'others'] as const;

/** Rounding differences are far below the fourth digit. */
const inShort = (difference: number): string => String(Number(difference.toPrecision(2)));

function shareOf(part: number, all: number): string {
  const share = all === 0 ? '' : ` (${formatPercent(part / all, 2)})`;
  return `${formatCount(part)} of ${formatCount(all)}${share}`;
}

function differingLines(differing: readonly DifferingChunk[], total: number): string[] {
  if (total === 0) return [];
  const score = (value: number | null): string => (value === null ? '-' : value.toFixed(4));
  return [
    '',
    ...textTable(
      ['other call', '>chunk', 'run', '>score 1', '>score 2', 'file', '>score 1', '>score 2'],
      differing.map(({ seqName, chunk, run, file }) => [
        seqName,
        formatCount(chunk),
        ...[run, file].flatMap(({ call, score1, score2 }) => [call, score(score1), score(score2)]),
      ]),
    ),
    ...(total > differing.length
      ? [`and ${formatCount(total - differing.length)} more; --output FILE writes all.`]
      : []),
  ];
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
