import { wilson } from '../../../contract/samples.ts';
import type { ExpectedShare, ExpectedShares } from '../../../contract/rpc/runs.ts';
import type { ShareEstimate } from '../../../contract/shareEstimate.ts';

/**
 * Over sequences with several scored chunks: squared distances of calls from the mean of their sequence, and
 * degrees of freedom.
 */
export interface Spread {
  squares: number;
  freedom: number;
}

/**
 * Sequences of one size class from one section of an input: their chunks with an open frame, since only these
 * can be called, and what is known about the computed ones.
 */
export interface Stratum extends Spread {
  readonly sizeClass: number;
  /**
   * Chunks in all its sequences that get a call in the finished run, as far as is known: with an open frame,
   * and not failed.
   */
  open: number;
  /** Chunks with a score, and how many of them are called virus. */
  known: Counts;
  /**
   * Those of them that are an even sample: only the rounds that are complete in this section. A part holds all
   * that its round has of a sequence, and of neighbours that may be alike. So while parts of a round are missing,
   * some sequences are known to a larger share than others, and some neighbourhoods not at all.
   */
  even: Counts;
  /**
   * By the number of a sequence's chunks, open or not: sums over these sequences of open chunks, and of the
   * squares of their number.
   */
  readonly sequences: Map<number, { open: number; squaredOpen: number }>;
}

export interface Counts {
  scored: number;
  viral: number;
}

export function addCounts(sum: Counts, { scored, viral }: Counts): void {
  sum.scored += scored;
  sum.viral += viral;
}

/** Adds calls of a sequence to what was known of it before. */
export function addCalls(stratum: Spread, before: Counts, calls: Counts): void {
  const after = { scored: before.scored + calls.scored, viral: before.viral + calls.viral };
  stratum.squares += squares(after) - squares(before);
  stratum.freedom += freedom(after) - freedom(before);
}

const squares = ({ scored, viral }: Counts): number =>
  scored === 0 ? 0 : (viral * (scored - viral)) / scored;
const freedom = ({ scored }: Counts): number => Math.max(0, scored - 1);

export function newCounts(): Pick<Stratum, 'known' | 'even'> {
  return { known: { scored: 0, viral: 0 }, even: { scored: 0, viral: 0 } };
}

export function emptyStratum(sizeClass: number): Stratum {
  return {
    sizeClass,
    open: 0,
    ...newCounts(),
    sequences: new Map(),
    squares: 0,
    freedom: 0,
  };
}

/** Adds a sequence of which nothing is computed. */
export function addSequence(stratum: Stratum, chunks: number, open: number): void {
  const { open: all, squaredOpen } = stratum.sequences.get(chunks) ?? { open: 0, squaredOpen: 0 };
  stratum.sequences.set(chunks, { open: all + open, squaredOpen: squaredOpen + open ** 2 });
  stratum.open += open;
}

/**
 * A sample is divided into strata: sections of its sequences in order, since while files are read, and in
 * the first round of the work, the first have had their turn and the last have not; and within each by the number of chunks from which a class
 * begins.
 */
export const SECTIONS = 64;
export const SIZE_CLASSES = [1, 2, 8, 64] as const;

export function sizeClass(chunks: number): number {
  return SIZE_CLASSES.findLastIndex((from) => chunks >= from);
}

/**
 * Strata are joined until they have this many scored chunks.
 */
const ENOUGH = 12;

/**
 * The last strata, which have fewer, stay apart with this many if the group before them is that many times
 * further: the calls of its few sequences would stand for theirs, as while a file is read. With fewer there is no
 * estimate if they are more than it.
 */
const FEW_ALONE = 3;
const FAR_AHEAD = 4;

/**
 * The share of chunks called virus in the finished run, which for sequences of one chunk is the share of
 * sequences: a stratified ratio estimate with Wilson's interval over share (1 - share) / variance chunks, where
 *
 *     variance = sum over groups of (W / m)^2 (s A + (p (1 - p) - s) B)
 *
 * with W the group's share of all chunks that can be called, m its computed ones, p the share of these called
 * virus, s the variance of calls within sequences, and A and B the variances of the sum if calls differed only
 * within or only between sequences: both vanish when everything is computed. What is computed must be a sample
 * of all strata, as after the first round. Null if nothing is scored yet, or too little of most of them.
 */
export function estimateShare(all: readonly Stratum[]): ShareEstimate | null {
  const strata = all
    .filter(({ open }) => open > 0)
    .map((stratum) => (stratum.known.scored < stratum.open ? stratum : { ...stratum, even: stratum.known }));
  const total = sum(strata, ({ open }) => open);
  const known = sum(strata, (stratum) => stratum.known.scored);
  if (known > 0 && known >= total) {
    const share = sum(strata, (stratum) => stratum.known.viral) / known;
    return { share, low: share, high: share };
  }
  if (evenScored(strata) === 0) return null;
  const groups = joined(strata).map((members) => groupOf(members));
  if (groups.length > 1 && groups.some(({ scored }) => scored < FEW_ALONE)) return null;
  const [whole, others] = [true, false].map((isWhole) =>
    groups.filter(({ scored, open }) => scored >= open === isWhole),
  ) as [Group[], Group[]];
  const viralInWhole = sum(whole, ({ viral }) => viral);
  const open = sum(others, (group) => group.open);
  const inAll = (shareOfOthers: number): number => (viralInWhole + shareOfOthers * open) / total;
  const { share, low, high } = estimateGroups(others, open);
  return { share: inAll(share), low: inAll(low), high: inAll(high) };
}

/** The share of chunks called virus in groups of which some is missing, with its interval. */
function estimateGroups(groups: readonly Group[], total: number): ShareEstimate {
  const share = sum(groups, (group) => (group.open * group.viral) / group.scored) / total;
  const viral = sum(groups, (group) => group.viral);
  const overall = viral / sum(groups, ({ scored }) => scored);
  let variance = 0;
  /**
   * The variance if all chunks were called virus with the same probability, as a multiple of the variance of
   * one call.
   */
  let perCall = 0;
  for (const group of groups) {
    const smooth = (group.viral + 2 * overall) / (group.scored + 2);
    const calls = smooth * (1 - smooth);
    const unseen = viral === 0 ? 0 : (SQUARES_UNSEEN * group.viral) / viral;
    const inner = Math.min(calls, (group.squares + calls + unseen) / (group.freedom + 1));
    const factor = (group.open / total / group.scored) ** 2;
    variance += factor * (inner * group.within + (calls - inner) * group.between);
    perCall += factor * group.within;
  }
  const spread = share * (1 - share);
  const asEqual = 1 / perCall;
  const bySpread = spread > 0 && variance > 0 ? spread / variance : asEqual;
  const areFew = Math.min(share, 1 - share) * asEqual < FEWEST;
  return shareEstimate(share, (areFew ? Math.min(asEqual, bySpread) : bySpread) / CAUTION);
}

/**
 * Where one contig has most of the viral chunks, and all its calls so far are virus, some of the others may
 * still differ. This is what one and a half chunks add to the squared distances of many equal calls, in all
 * groups.
 */
const SQUARES_UNSEEN = 1.5;

/** The variance is an estimate, too: with this much more, even the worst of the simulated tables holds what it says. */
const CAUTION = 1.15;

/** Where fewer chunks of a kind count, most strata have none of them, and by their own calls would vary too little. */
const FEWEST = 5;

/** Lower bounds of the expected count behind 1, 2 or 3 observed ones, by Poisson's distribution at 5 %: where so few were met, Wilson's
 * interval begins too high. */
const FEW = [0.0513, 0.3554, 0.8177] as const;

interface Group extends Counts, Spread {
  open: number;
  within: number;
  between: number;
}

/**
 * Joined strata, with the variance of the sum over their computed chunks: for calls that differ by 1 within
 * sequences, and between them.
 */
function groupOf(members: readonly Stratum[]): Group {
  const open = sum(members, (stratum) => stratum.open);
  const share = computed(members);
  return {
    open,
    scored: evenScored(members),
    viral: sum(members, ({ even }) => even.viral),
    squares: sum(members, ({ squares }) => squares),
    freedom: sum(members, ({ freedom }) => freedom),
    within: open * share * (1 - share),
    between: sum(members, (stratum) => betweenSequences(stratum, share)),
  };
}

/**
 * Of n chunks of a sequence either floor(np) or ceil(np) are computed, where p is the share computed in its
 * own stratum; how many of these have an open frame is random.
 */
function betweenSequences({ sequences, open, even }: Stratum, groupShare: number): number {
  const p = even.scored / open;
  let between = 0;
  for (const [n, own] of sequences) {
    const rest = n * p - Math.floor(n * p);
    const rounding = rest * (1 - rest);
    between += own.squaredOpen * (rounding / n ** 2 + (p - groupShare) ** 2);
    if (n === 1) continue;
    const drawn = (n ** 2 * p * (1 - p) - rounding) / (n - 1);
    between += (own.open / n - own.squaredOpen / n ** 2) * drawn;
  }
  return between;
}

/**
 * Strata of one class in order, joined until each group has enough; classes that are too small are joined as
 * a whole.
 */
function joined(strata: readonly Stratum[]): Stratum[][] {
  const groups: Stratum[][] = [];
  let rest: Stratum[] = [];
  for (const [size] of SIZE_CLASSES.entries()) {
    rest.push(...strata.filter((stratum) => stratum.sizeClass === size));
    if (evenScored(rest) < ENOUGH) continue;
    groups.push(...inGroups(rest));
    rest = [];
  }
  groups.push([...(groups.pop() ?? []), ...rest]);
  return groups;
}

function inGroups(strata: readonly Stratum[]): Stratum[][] {
  const groups: Stratum[][] = [];
  let rest: Stratum[] = [];
  for (const stratum of strata) {
    rest.push(stratum);
    if (evenScored(rest) < ENOUGH) continue;
    groups.push(rest);
    rest = [];
  }
  const last = groups.at(-1) ?? [];
  const isBehind = rest.length > 0 && FAR_AHEAD * computed(rest) < computed(last);
  const isApart = isBehind && (evenScored(rest) >= FEW_ALONE || openIn(rest) > openIn(last));
  return isApart ? [...groups, rest] : [...groups.slice(0, -1), [...last, ...rest]];
}

function evenScored(strata: readonly Stratum[]): number {
  return sum(strata, ({ even }) => even.scored);
}

function openIn(strata: readonly Stratum[]): number {
  return sum(strata, ({ open }) => open);
}

/** The share of the chunks of these strata that the estimate rests on. */
function computed(strata: readonly Stratum[]): number {
  return evenScored(strata) / openIn(strata);
}

/** Wilson's interval for a share of this many independent calls, wider if few were observed. */
function shareEstimate(share: number, calls: number): ShareEstimate {
  const { low, high } = wilson(share, calls);
  const few = (count: number): number => (count < 0.5 ? 1 : (FEW[Math.round(count) - 1] ?? calls) / calls);
  return {
    share,
    low: Math.max(0, Math.min(low, few(share * calls))),
    high: Math.min(1, Math.max(high, 1 - few((1 - share) * calls))),
  };
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

/** What run.db knows about the viral share while a run grows. */
export interface ShareStrata {
  /** Whether chunks are computed as an even sample of all inputs that grows. */
  isSample: boolean;
  /**
   * In the order of the run. `isSampled`: what is known is a sample of all of it, as once its first round is
   * computed, or all of it, in any order; of an input that can't be read to its end nothing more comes.
   */
  inputs: { isSampled: boolean; strata: Stratum[] }[];
}

/**
 * For the run and each of its samples: the counts so far, and the share that the finished run will show.
 * `samples` holds the sample of each input.
 */
export function sharesOf({ isSample, inputs }: ShareStrata, samples: readonly string[]): ExpectedShares {
  const bySample = Map.groupBy(inputs.entries(), ([input]) => samples[input] ?? '');
  return {
    isSample,
    run: shareOf(inputs),
    samples: [...bySample].map(([sample, own]) => ({
      sample,
      ...shareOf(own.map(([, input]) => input)),
    })),
  };
}

function shareOf(inputs: ShareStrata['inputs']): ExpectedShare {
  const strata = inputs.flatMap((input) => input.strata);
  const sum = (value: (stratum: Stratum) => number): number =>
    strata.reduce((total, stratum) => total + value(stratum), 0);
  // For sequences of one chunk, the share of chunks is that of sequences.
  const unit = strata.every(({ sequences }) => [...sequences.keys()].every((chunks) => chunks === 1))
    ? 'sequences'
    : 'chunks';
  return {
    unit,
    viral: sum(({ known }) => known.viral),
    scored: sum(({ known }) => known.scored),
    total: sum(({ open }) => open),
    estimate: inputs.every(({ isSampled }) => isSampled) ? estimateShare(strata) : null,
  };
}
