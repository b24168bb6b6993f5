import type { PartlyScored } from '../settled.ts';
import { emptyStratum, SIZE_CLASSES, sizeClass, STRETCHES, type Stratum } from '../viralShare.ts';

/** A sequence of a simulated run: the score of each of its chunks, and when that chunk has its turn, from 0 to 1. */
interface SimulatedSequence {
  scores: readonly number[];
  turns: readonly number[];
}

/** `mosaics`: many contigs that are viral in part, the worst for calls that are settled early. */
export const KINDS = ['reads', 'long reads', 'contigs', 'huge contig', 'huge virus', 'mosaics'] as const;
type Kind = (typeof KINDS)[number];

/** Uniform numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** When the chunks of a sequence have their turn: evenly spread, in van der Corput's order from a random place on. */
function turnsOf(chunks: number, random: () => number): number[] {
  const start = Math.floor(random() * chunks);
  const offset = random();
  const bits = Math.ceil(Math.log2(Math.max(2, chunks)));
  const turns = new Array<number>(chunks);
  for (let i = 0, turn = 0; turn < chunks; i++) {
    let place = 0;
    for (let bit = 0; bit < bits; bit++) if (i & (1 << bit)) place |= 1 << (bits - 1 - bit);
    if (place >= chunks) continue;
    turns[(place + start) % chunks] = (turn + offset) / chunks;
    turn += 1;
  }
  return turns;
}

/** Jöhnk's method. */
function beta(random: () => number, a: number, b: number): number {
  for (;;) {
    const [x, y] = [random() ** (1 / a), random() ** (1 / b)];
    if (x + y > 0 && x + y <= 1) return x / (x + y);
  }
}

/** A sample of which about `share` is viral. In every sequence chunks differ, and some are called wrongly. */
export function simulatedRun(kind: Kind, share: number, seed: number): SimulatedSequence[] {
  const random = randomNumbers(seed);
  const sequences: SimulatedSequence[] = [];
  const add = (chunks: number, viral: number): void => {
    const scores = Array.from({ length: chunks }, () =>
      random() < viral ? 1 - 0.4 * random() ** 3 : 0.4 * random() ** 3,
    );
    sequences.push({ scores, turns: turnsOf(chunks, random) });
  };
  const viralPart = (): number => {
    if (share === 0) return 0;
    if (kind === 'mosaics' && random() < 0.3) return random();
    return random() < share ? 1 - beta(random, 0.5, 5) : Math.min(1, share * beta(random, 0.3, 3));
  };
  const lengths: Record<Kind, () => number> = {
    reads: () => 1,
    'long reads': () => 1 + Math.floor(10 * random()),
    contigs: () => Math.floor(400 ** random()),
    'huge contig': () => Math.floor(20 ** random()),
    'huge virus': () => Math.floor(20 ** random()),
    mosaics: () => Math.floor(400 ** random()),
  };
  for (let i = 0; i < (kind === 'reads' ? 10_000 : 1_000); i++) add(lengths[kind](), viralPart());
  if (kind === 'huge contig') add(20_000, share / 10);
  if (kind === 'huge virus') add(20_000, share === 0 ? 0 : 0.9);
  return sequences;
}

const isViral = (score: number): boolean => score >= 0.5;

export function finalShare(sequences: readonly SimulatedSequence[]): number {
  let [viral, all] = [0, 0];
  for (const { scores } of sequences) {
    all += scores.length;
    for (const score of scores) if (isViral(score)) viral += 1;
  }
  return viral / all;
}

/** What is known once the chunks of every sequence up to a turn are computed, which may differ from sequence to sequence. */
export function strataAt(
  sequences: readonly SimulatedSequence[],
  turnOf: (place: number) => number,
): Stratum[] {
  const strata = new Map<number, Stratum>();
  for (const [i, { scores, turns }] of sequences.entries()) {
    const place = i / sequences.length;
    const size = sizeClass(scores.length);
    const key = Math.floor(place * STRETCHES) * SIZE_CLASSES.length + size;
    const stratum = strata.get(key) ?? emptyStratum(size);
    strata.set(key, stratum);
    const computed = scores.filter((_, chunk) => turns[chunk]! < turnOf(place));
    const viral = computed.filter(isViral).length;
    stratum.frames += scores.length;
    stratum.framesDone += computed.length;
    stratum.scored += computed.length;
    stratum.viral += viral;
    stratum.sequences.set(scores.length, (stratum.sequences.get(scores.length) ?? 0) + 1);
    if (computed.length < 2) continue;
    stratum.squares += (viral * (computed.length - viral)) / computed.length;
    stratum.freedom += computed.length - 1;
  }
  return [...strata.values()];
}

/** What of a sequence is known then, and the score that it will have. */
export function partlyScored(
  { scores, turns }: SimulatedSequence,
  turn: number,
): PartlyScored & { final: number } {
  const computed = scores.filter((_, chunk) => turns[chunk]! < turn);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const missing = scores.length - computed.length;
  return {
    weight: computed.length,
    squaredWeight: computed.length,
    weightedScore: sum(computed),
    missingWeight: missing,
    missingChunks: missing,
    final: sum(scores) / scores.length,
  };
}
