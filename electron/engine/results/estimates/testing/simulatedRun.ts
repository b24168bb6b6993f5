import type { PartlyScored } from '../settled.ts';
import {
  addSequence,
  emptyStratum,
  SIZE_CLASSES,
  sizeClass,
  STRETCHES,
  type Stratum,
} from '../viralShare.ts';

/**
 * A sequence of a simulated run. Its chunks are in the order of their turns, chunk i at (i + offset) / n:
 * they differ only by chance, so their position in the sequence does not matter. A score is null if the chunk
 * has no open frame.
 */
interface SimulatedSequence {
  scores: readonly (number | null)[];
  offset: number;
}

/**
 * `mosaics`: many contigs that are viral in part, the hardest case for early settled calls. `lost chunks`:
 * contigs that are entirely virus or not, and 44 % of whose chunks have no open frame, as in contigs of a
 * gut.
 */
export const KINDS = [
  'reads',
  'long reads',
  'contigs',
  'lost chunks',
  'huge contig',
  'huge virus',
  'mosaics',
] as const;
type Kind = (typeof KINDS)[number];

/** Uniform numbers from 0 to below 1, reproducible by seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Jöhnk's method. */
function beta(random: () => number, a: number, b: number): number {
  for (;;) {
    const [x, y] = [random() ** (1 / a), random() ** (1 / b)];
    if (x + y > 0 && x + y <= 1) return x / (x + y);
  }
}

/**
 * A sample of which about `share` is viral. The chunks of every sequence differ, and some are called wrongly.
 */
export function simulatedRun(kind: Kind, share: number, seed: number, reads = 10_000): SimulatedSequence[] {
  const random = randomNumbers(seed);
  const sequences: SimulatedSequence[] = [];
  const add = (chunks: number, viral: number): void => {
    const scores = new Array<number | null>(chunks);
    for (let i = 0; i < chunks; i++) {
      const away = 0.4 * random() ** 3;
      scores[i] = random() < viral ? 1 - away : away;
      if (kind === 'lost chunks' && random() < 0.44) scores[i] = null;
    }
    sequences.push({ scores, offset: random() });
  };
  const viralPart = (): number => {
    if (share === 0) return 0;
    if (kind === 'lost chunks') return random() < share ? 0.98 : 0.02;
    if (kind === 'mosaics' && random() < 0.3) return random();
    return random() < share ? 1 - beta(random, 0.5, 5) : Math.min(1, share * beta(random, 0.3, 3));
  };
  const lengths: Record<Kind, () => number> = {
    reads: () => 1,
    'long reads': () => 1 + Math.floor(10 * random()),
    contigs: () => Math.floor(400 ** random()),
    'lost chunks': () => Math.floor(400 ** random()),
    'huge contig': () => Math.floor(20 ** random()),
    'huge virus': () => Math.floor(20 ** random()),
    mosaics: () => Math.floor(400 ** random()),
  };
  for (let i = 0; i < (kind === 'reads' ? reads : 1_000); i++) add(lengths[kind](), viralPart());
  if (kind === 'huge contig') add(20_000, share / 10);
  if (kind === 'huge virus') add(20_000, share === 0 ? 0 : 0.9);
  return sequences;
}

const isViral = (score: number): boolean => score >= 0.5;

/** The chunks with an open frame whose turn came before a moment, and how many of them are called virus. */
function counts({ scores, offset }: SimulatedSequence, turn: number): { open: number; viral: number } {
  const computed = Math.min(scores.length, Math.max(0, Math.ceil(turn * scores.length - offset)));
  let [open, viral] = [0, 0];
  for (let i = 0; i < computed; i++) {
    const score = scores[i] ?? null;
    if (score === null) continue;
    open += 1;
    if (isViral(score)) viral += 1;
  }
  return { open, viral };
}

const END = 2;

export function finalShare(sequences: readonly SimulatedSequence[]): number {
  let [viral, all] = [0, 0];
  for (const sequence of sequences) {
    const end = counts(sequence, END);
    all += end.open;
    viral += end.viral;
  }
  return viral / all;
}

/**
 * What is known once the chunks of every sequence up to a turn are computed; the turn may differ between
 * sequences.
 */
export function strataAt(
  sequences: readonly SimulatedSequence[],
  turnOf: (place: number) => number,
): Stratum[] {
  const strata = new Map<number, Stratum>();
  for (const [i, sequence] of sequences.entries()) {
    const place = i / sequences.length;
    const chunks = sequence.scores.length;
    const { open } = counts(sequence, END);
    if (open === 0) continue;
    const size = sizeClass(chunks);
    const key = Math.floor(place * STRETCHES) * SIZE_CLASSES.length + size;
    const stratum = strata.get(key) ?? emptyStratum(size);
    strata.set(key, stratum);
    addSequence(stratum, chunks, open);
    const { open: scored, viral } = counts(sequence, turnOf(place));
    stratum.done += scored;
    stratum.scored += scored;
    stratum.viral += viral;
    if (scored < 2) continue;
    stratum.squares += (viral * (scored - viral)) / scored;
    stratum.freedom += scored - 1;
  }
  return [...strata.values()];
}

/** What is then known about a sequence, and its final score. */
export function partlyScored(
  { scores, offset }: SimulatedSequence,
  turn: number,
): PartlyScored & { final: number } {
  const open = (until: number): number[] =>
    scores.filter((score, i) => score !== null && (i + offset) / scores.length < until) as number[];
  const [computed, all] = [open(turn), open(END)];
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const missing = all.length - computed.length;
  return {
    weight: computed.length,
    squaredWeight: computed.length,
    weightedScore: sum(computed),
    missingWeight: missing,
    missingChunks: missing,
    final: sum(all) / all.length,
  };
}
