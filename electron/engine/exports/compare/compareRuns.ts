import type { SequenceResult } from '../../../contract/columns.ts';
import { basename } from 'node:path';
import { noPredictions, predictionSchema } from '../../../contract/results.ts';
import type { CallAgreement, RunComparison, ScoresCompared } from '../../../contract/rpc/results.ts';
import type { RunStore } from '../../store/runStore.ts';
import type { StoredInput } from '../../store/types.ts';
import { cellText, float32Text, inputLabels } from '../../results/cellText.ts';
import { samplesOf } from '../samples.ts';
import { WholeFile } from '../wholeFile.ts';

const PAGE_ROWS = 5000;

type Compared = Pick<SequenceResult, 'row' | 'prediction' | 'virusScore'>;

export interface ComparedSequence {
  seqName: string;
  length: number;
  first: Compared;
  second: Compared;
}

/** The comparison without what depends on the lists that a window keeps. */
type Comparison = Omit<RunComparison, 'shortlisted'>;

/**
 * Compares the calls and scores of two runs, for example with another model or precision; `onListed` gets
 * the sequences whose call changed and those that are shortlisted, in the order of the first run.
 */
export async function compareRuns(
  first: RunStore,
  second: RunStore,
  onListed: (listed: ComparedSequence) => Promise<void> | void,
  isShortlisted: (firstRow: number, secondRow: number) => boolean = () => false,
): Promise<Comparison> {
  const run = await first.loadRun();
  const inputs = matchInputs(run.inputs, (await second.loadRun()).inputs);
  const seconds = new Map<string, Compared>();
  /** Names that a file of either run, or what is compared as one file, has more than once. */
  const repeated = new Set<string>();
  for await (const { name, nth, sequence } of namedSequences(second, inputs.second, inputs.same)) {
    const { row, prediction, virusScore } = sequence;
    if (nth > 1) repeated.add(name);
    seconds.set(`${name}\t${nth}`, { row, prediction, virusScore });
  }
  const ofInputs = run.inputs.map(noCalls);
  const comparison: Comparison = {
    inBoth: 0,
    onlyInFirst: 0,
    onlyInSecond: 0,
    calls: noCalls(),
    agreement: [],
    sameCall: 0,
    matchedByOrder: 0,
    changedInputs: inputs.changed,
    otherInputs: inputs.others,
    scores: null,
  };
  const agreement = new ScoreAgreement();
  for await (const { name, nth, sequence } of namedSequences(first, inputs.first, inputs.same)) {
    const isByOrder = (of: number) => seconds.has(`${name}\t${of}`) && !inputs.same.has(name);
    if (nth === 2 && !repeated.has(name)) {
      repeated.add(name);
      if (isByOrder(1)) comparison.matchedByOrder += 1;
    }
    if (repeated.has(name) && isByOrder(nth)) comparison.matchedByOrder += 1;
    const other = seconds.get(`${name}\t${nth}`);
    if (!other) {
      comparison.onlyInFirst += 1;
      continue;
    }
    comparison.inBoth += 1;
    ofInputs[sequence.input]![sequence.prediction][other.prediction] += 1;
    if (sequence.virusScore !== null && other.virusScore !== null)
      agreement.add(sequence.virusScore, other.virusScore);
    const isSame = sequence.prediction === other.prediction;
    if (isSame) comparison.sameCall += 1;
    if (!isSame || isShortlisted(sequence.row, other.row))
      await onListed({ seqName: sequence.seqName, length: sequence.length, first: sequence, second: other });
  }
  comparison.onlyInSecond = seconds.size - comparison.inBoth;
  comparison.calls = sumOf(ofInputs);
  comparison.agreement = agreements(
    ofInputs,
    samplesOf(run),
    inputLabels(run.inputs.map(({ path }) => path)),
  );
  comparison.scores = agreement.summary();
  return comparison;
}

type Calls = RunComparison['calls'];

const noCalls = (): Calls => ({
  virus: noPredictions(),
  others: noPredictions(),
  not_scored: noPredictions(),
  failed: noPredictions(),
});

function sumOf(some: readonly Calls[]): Calls {
  const sum = noCalls();
  const each = predictionSchema.options;
  for (const calls of some)
    for (const one of each) for (const other of each) sum[one][other] += calls[one][other];
  return sum;
}

/** For all inputs, each sample of several, and each input. */
function agreements(
  ofInputs: readonly Calls[],
  samples: readonly string[],
  files: readonly string[],
): CallAgreement[] {
  const bySample = Map.groupBy(ofInputs.keys(), (input) => samples[input]!);
  return [
    { sample: null, file: null, ...agreementOf(sumOf(ofInputs)) },
    ...[...bySample].flatMap(([sample, inputs]) => [
      ...(inputs.length > 1
        ? [{ sample, file: null, ...agreementOf(sumOf(inputs.map((input) => ofInputs[input]!))) }]
        : []),
      ...inputs.map((input) => ({ sample, file: files[input]!, ...agreementOf(ofInputs[input]!) })),
    ]),
  ];
}

function agreementOf({ virus, others }: Calls): Pick<CallAgreement, 'called' | 'sameCall' | 'kappa'> {
  const [sameCall, differ] = [virus.virus + others.others, virus.others + others.virus];
  const called = sameCall + differ;
  // Multiplied by `called` squared, so that all numbers are whole.
  const byChance =
    (virus.virus + virus.others) * (virus.virus + others.virus) +
    (others.virus + others.others) * (virus.others + others.others);
  const most = called ** 2;
  const kappa = byChance === most ? null : (called * sameCall - byChance) / (most - byChance);
  return { called, sameCall, kappa };
}

/** The name of the table of agreement beside the one of the sequences whose call changed. */
export const agreementPath = (path: string): string => path.replace(/(\.[^./\\]+)?$/, '_agreement.tsv');

export const cellOfScore = (score: number | null): string => (score === null ? 'NA' : float32Text(score));

/** Writes a table of what a comparison lists. */
export async function writeListed<One, Found>(
  path: string,
  head: readonly string[],
  cellsOf: (one: One) => readonly (string | number)[],
  compare: (onListed: (one: One) => Promise<void>) => Promise<Found>,
): Promise<Found> {
  let found: Found | undefined;
  const line = (cells: readonly (string | number)[]) => `${cells.join('\t')}\n`;
  await WholeFile.write(path, async (file) => {
    await file.write(line(head));
    found = await compare((one) => file.write(line(cellsOf(one))));
  });
  return found!;
}

/** Writes the sequences whose call changed, and the agreement by sample and file, as tables, besides comparing. */
export async function writeComparison(first: RunStore, second: RunStore, path: string): Promise<Comparison> {
  const columns = ['no', 'prediction', 'virus_score'];
  const head = ['seq_name', 'length', ...[1, 2].flatMap((run) => columns.map((name) => `${name}_${run}`))];
  const comparison = await writeListed(
    path,
    head,
    (changed: ComparedSequence) => [
      ...[changed.seqName, changed.length],
      ...[changed.first, changed.second].flatMap(({ row, prediction, virusScore }) => [
        ...[row + 1, prediction, cellOfScore(virusScore)],
      ]),
    ],
    (onListed) => compareRuns(first, second, onListed),
  );
  await writeListed(
    agreementPath(path),
    ['sample', 'file', 'called', 'same_call', 'kappa'],
    ({ sample, file, called, sameCall, kappa }: CallAgreement) => [
      ...[sample === null ? 'NA' : cellText(sample), file ?? 'NA', called, sameCall, kappa ?? 'NA'],
    ],
    async (onListed) => {
      for (const one of comparison.agreement) await onListed(one);
    },
  );
  return comparison;
}

async function* namedSequences(
  store: RunStore,
  places: readonly string[],
  same: ReadonlySet<string>,
): AsyncGenerator<{ name: string; nth: number; sequence: SequenceResult }> {
  const rows = await store.selectedRows({ filter: {} }, { by: 'row', descending: false });
  const seen = new Map<string, number>();
  for (let begin = 0; begin < rows.length; begin += PAGE_ROWS) {
    for (const sequence of await store.sequencesOf(rows.slice(begin, begin + PAGE_ROWS))) {
      const place = places[sequence.input] ?? '';
      // In files of the same content, the n-th sequence is the n-th whatever its name.
      const name = same.has(place) ? place : `${place}\t${sequence.seqName}\t${sequence.length}`;
      const nth = (seen.get(name) ?? 0) + 1;
      seen.set(name, nth);
      yield { name, nth, sequence };
    }
  }
}

type Input = Pick<StoredInput, 'path' | 'sha256'>;

interface MatchedInputs {
  /** For each input of a run, what it shares with its counterpart in the other run. */
  first: readonly string[];
  second: readonly string[];
  /** What inputs of the same content share. */
  same: ReadonlySet<string>;
  changed: string[];
  others: { first: string[]; second: string[] };
}

/**
 * Finds the counterparts of inputs, because reads of a pair have the same names: by their content, then by
 * their paths, then by file names, where only one input of each run has it. What is left of both runs is
 * compared as if it were one file.
 */
function matchInputs(first: readonly Input[], second: readonly Input[]): MatchedInputs {
  const places = { first: first.map(() => ''), second: second.map(() => '') };
  const same = new Set<string>();
  const changed: string[] = [];
  const nameOf = ({ path }: Input): string => basename(path.replaceAll('\\', '/'));
  const left = (inputs: readonly Input[], taken: readonly string[], keyOf: (input: Input) => string) =>
    Map.groupBy(
      [...inputs.keys()].filter((i) => taken[i] === ''),
      (i) => keyOf(inputs[i]!),
    );
  const isContent = ({ sha256 }: Input) => sha256;
  for (const keyOf of [isContent, ({ path }: Input) => path, nameOf]) {
    const others = left(second, places.second, keyOf);
    for (const [key, ones] of left(first, places.first, keyOf)) {
      const counterparts = others.get(key) ?? [];
      if (keyOf !== isContent && (ones.length > 1 || counterparts.length > 1)) continue;
      for (const [nth, other] of counterparts.slice(0, ones.length).entries()) {
        const one = ones[nth]!;
        const place = String(one + 1);
        places.first[one] = places.second[other] = place;
        if (keyOf === isContent) same.add(place);
        else changed.push(nameOf(first[one]!));
      }
    }
  }
  const unmatched = (inputs: readonly Input[], taken: readonly string[]) =>
    inputs.filter((_, i) => taken[i] === '').map(nameOf);
  const [one, other] = [unmatched(first, places.first), unmatched(second, places.second)];
  const isCompared = one.length > 0 && other.length > 0;
  return {
    ...places,
    same,
    changed,
    others: isCompared ? { first: one, second: other } : { first: [], second: [] },
  };
}

/**
 * Pearson's correlation and differences of pairs, in one pass (Welford's method, so that large runs lose no
 * digits).
 */
export class ScoreAgreement {
  #n = 0;
  #meanX = 0;
  #meanY = 0;
  #xx = 0;
  #yy = 0;
  #xy = 0;
  #differences = 0;
  #largest = 0;

  add(x: number, y: number): void {
    this.#n += 1;
    const [dx, dy] = [x - this.#meanX, y - this.#meanY];
    this.#meanX += dx / this.#n;
    this.#meanY += dy / this.#n;
    this.#xx += dx * (x - this.#meanX);
    this.#yy += dy * (y - this.#meanY);
    this.#xy += dx * (y - this.#meanY);
    this.#differences += Math.abs(x - y);
    this.#largest = Math.max(this.#largest, Math.abs(x - y));
  }

  summary(): ScoresCompared | null {
    if (this.#n === 0) return null;
    const spread = Math.sqrt(this.#xx * this.#yy);
    return {
      compared: this.#n,
      correlation: spread === 0 ? null : this.#xy / spread,
      meanAbsoluteDifference: this.#differences / this.#n,
      largestDifference: this.#largest,
    };
  }
}
