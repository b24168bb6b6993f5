import { resolve } from 'node:path';
import { appFailure } from '../../../contract/errors.ts';
import { chunkLengthsText } from '../../../contract/plan.ts';
import { predictionSchema, RESULT_FILES } from '../../../contract/results.ts';
import type { CallAgreement, DifferingChunk, ScoresCompared } from '../../../contract/rpc/results.ts';
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

interface CompareFlags {
  output?: string;
  json?: boolean;
}

/**
 * Compares the calls of two runs of the same sequences, for example with another model or precision, or of a
 * run and the original tool.
 */
export async function compare(run: string, file: string, flags: CompareFlags): Promise<number> {
  if (await isOriginalResult(file)) return withRun(run, (store) => compareFile(store, file, flags));
  if (runFolderOf(file) === undefined)
    throw appFailure('usage', `${file} is neither a run nor a result of the original VirNucPro.`, {
      nextStep: `Name the folder of a run, or the original's ${RESULT_FILES.originalFrames} or ${RESULT_FILES.originalChunks}. predict makes a run of a sequence file.`,
    });
  return withRun(run, (first) => withRun(file, (second) => compareStores(first, second, flags)));
}

async function compareStores(first: RunStore, second: RunStore, flags: CompareFlags): Promise<number> {
  const changed: ComparedSequence[] = [];
  const output = flags.output === undefined ? undefined : resolve(flags.output);
  const found =
    output === undefined
      ? await compareRuns(first, second, firstOf(changed))
      : await writeComparison(first, second, output);
  return print({ ...found, changed }, flags, [
    `1: ${await nameOf(first)}`,
    `2: ${await nameOf(second)}`,
    `${formatCount(found.inBoth)} sequences in both, ${formatCount(found.onlyInFirst)} only in the first, ` +
      `${formatCount(found.onlyInSecond)} only in the second`,
    ...doubts(found),
    '',
    ...callTable('1 \\ 2', predictionSchema.options, found.calls),
    '',
    `Same call: ${shareOf(found.sameCall, found.inBoth)}`,
    '',
    ...agreementLines(found.agreement),
    '',
    ...scoreLines('Scores of', 'sequences', found.scores),
    ...(output === undefined
      ? changedLines(
          ['changed', '>length', 'call 1', '>score 1', 'call 2', '>score 2'],
          changed.map((one) => [
            ...[one.seqName, formatCount(one.length), one.first.prediction, shown(one.first.virusScore)],
            ...[one.second.prediction, shown(one.second.virusScore)],
          ]),
          found.inBoth - found.sameCall,
        )
      : [
          `The sequences whose call changed: ${output}`,
          `The agreement by sample and file: ${agreementPath(output)}`,
        ]),
  ]);
}

/** Compares a run with a result file of the original tool, chunk by chunk. */
async function compareFile(store: RunStore, file: string, flags: CompareFlags): Promise<number> {
  const differing: DifferingChunk[] = [];
  const output = flags.output === undefined ? undefined : resolve(flags.output);
  const found =
    output === undefined
      ? await compareWithOriginal(store, file, firstOf(differing))
      : await writeOriginalComparison(store, file, output);
  const { inBoth, sameCall, onlyInRun, onlyInFile, ambiguous } = found;
  return print({ ...found, differing }, flags, [
    `Run: ${await nameOf(store)}`,
    `File: ${file}`,
    `${formatCount(inBoth)} chunks in both, ${formatCount(onlyInRun)} only in the run, ${formatCount(onlyInFile)} only in the file` +
      (ambiguous === 0
        ? ''
        : `; ${formatCount(ambiguous)} of the file not compared, since their names occur more than once`),
    ...(onlyInRun + onlyInFile === 0
      ? []
      : [
          `Chunks are matched by their ids. If the file comes from other inputs, or from chunks of another length than ${found.chunkLength} bp, compare a run of the same inputs with the model of that length.`,
        ]),
    '',
    ...callTable('run \\ file', ['virus', 'others'], found.calls),
    '',
    `Same call: ${shareOf(sameCall, inBoth)} chunks`,
    ...scoreLines('Highest virus scores of', 'chunks', found.scores),
    ...(output === undefined
      ? changedLines(
          ['other call', '>chunk', 'run', '>score 1', '>score 2', 'file', '>score 1', '>score 2'],
          differing.map((one) => [
            ...[one.seqName, formatCount(one.chunk)],
            ...[one.run, one.file].flatMap(({ call, score1, score2 }) => [
              call,
              shown(score1),
              shown(score2),
            ]),
          ]),
          inBoth - sameCall,
        )
      : [`The chunks whose call differs: ${output}`]),
  ]);
}

const firstOf =
  <One>(list: One[]) =>
  (one: One): void => {
    if (list.length < SHOWN) list.push(one);
  };

function print(found: object, { json }: CompareFlags, lines: readonly string[]): number {
  if (json === true) process.stdout.write(`${JSON.stringify(found)}\n`);
  else toStandardOutput(lines.join('\n'));
  return EXIT.done;
}

async function nameOf(store: RunStore): Promise<string> {
  const { description, plan } = await store.loadRun();
  const { title, notice } = plan.model;
  return `${description.name} (${title}${notice === null ? '' : `, ${notice}`}, ${plan.precision}, chunks of ${chunkLengthsText(plan)} bp)`;
}

function callTable<Call extends string>(
  corner: string,
  calls: readonly Call[],
  counts: Record<Call, Record<Call, number>>,
): string[] {
  return textTable(
    [corner, ...calls.map((call) => `>${call}`)],
    calls.map((call) => [call, ...calls.map((other) => formatCount(counts[call][other]))]),
  );
}

const shareOf = (part: number, all: number): string =>
  `${formatCount(part)} of ${formatCount(all)}${all === 0 ? '' : ` (${formatPercent(part / all, 2)})`}`;

/** Rounding differences are far below the fourth digit. */
const inShort = (difference: number): string => String(Number(difference.toPrecision(2)));

function scoreLines(scoresOf: string, what: string, scores: ScoresCompared | null): string[] {
  if (scores === null) return [];
  return [
    `${scoresOf} ${formatCount(scores.compared)} ${what}: correlation ${scores.correlation?.toFixed(6) ?? 'not defined'}, ` +
      `mean absolute difference ${inShort(scores.meanAbsoluteDifference)}, largest ${inShort(scores.largestDifference)}`,
  ];
}

const shown = (score: number | null): string => score?.toFixed(4) ?? '-';

function changedLines(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  total: number,
): string[] {
  if (total === 0) return [];
  const more = total - rows.length;
  return [
    '',
    ...textTable(head, rows),
    ...(more > 0 ? [`and ${formatCount(more)} more; --output FILE writes all.`] : []),
  ];
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
  otherInputs: { first, second },
  matchedByOrder,
}: Awaited<ReturnType<typeof compareRuns>>): string[] {
  const doubt = (isThere: boolean, text: string) => (isThere ? [text] : []);
  return [
    ...doubt(
      changedInputs.length > 0,
      `The same name but another content in both runs: ${changedInputs.join(', ')}`,
    ),
    ...doubt(
      first.length > 0,
      `Without a file of the same content or name in the other run, so compared by the names of sequences alone: ` +
        `${first.join(', ')} in the first, ${second.join(', ')} in the second`,
    ),
    ...doubt(
      matchedByOrder > 0,
      `Warning: the names of ${formatCount(matchedByOrder)} of them are not unique; they were matched in their order.`,
    ),
  ];
}
