import { firstRound } from '../../../../contract/plan.ts';
import { firstTrial } from '../../../run/work/decide/trial.ts';
import { PartQueue } from '../../../run/work/decide/workState.ts';
import { randomNumbers } from '../../../testing/randomNumbers.ts';
import {
  addCalls,
  addSequence,
  type Counts,
  emptyStratum,
  SIZE_CLASSES,
  sizeClass,
  SECTIONS,
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
 * `read clumps`: neighbours come from one source, as in files that were clustered or sorted by origin.
 * `sorted reads`: by score, viral ones first. `mosaics`: many contigs that are viral in part. `lost chunks`:
 * contigs that are entirely virus or not, and 44 % of whose chunks have no open frame, as in contigs of a
 * gut.
 */
export const KINDS = [
  'reads',
  'read clumps',
  'sorted reads',
  'long reads',
  'contigs',
  'lost chunks',
  'huge contig',
  'huge virus',
  'mosaics',
] as const;
type Kind = (typeof KINDS)[number];

/** How many reads after the first of a clump come from its source. */
const NEIGHBOURS: Partial<Record<Kind, (random: () => number) => number>> = {
  'read clumps': (random) => 4 + Math.floor(201 * random()),
  'sorted reads': () => 0,
};

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
    'read clumps': () => 1,
    'sorted reads': () => 1,
    'long reads': () => 1 + Math.floor(10 * random()),
    contigs: () => Math.floor(400 ** random()),
    'lost chunks': () => Math.floor(400 ** random()),
    'huge contig': () => Math.floor(20 ** random()),
    'huge virus': () => Math.floor(20 ** random()),
    mosaics: () => Math.floor(400 ** random()),
  };
  const isReads = kind === 'reads' || kind in NEIGHBOURS;
  let [neighbours, viral] = [0, 0];
  for (let i = 0; i < (isReads ? reads : 1_000); i++) {
    if (neighbours-- === 0) [neighbours, viral] = [NEIGHBOURS[kind]?.(random) ?? 0, viralPart()];
    add(lengths[kind](), viral);
  }
  if (kind === 'sorted reads') sequences.sort((a, b) => b.scores[0]! - a.scores[0]!);
  if (kind === 'huge contig') add(20_000, share / 10);
  if (kind === 'huge virus') add(20_000, share === 0 ? 0 : 0.9);
  return sequences;
}

const isViral = (score: number): boolean => score >= 0.5;

export function finalShare(sequences: readonly SimulatedSequence[]): number {
  const scores = sequences.flatMap((sequence) => sequence.scores).filter((score) => score !== null);
  return scores.filter(isViral).length / scores.length;
}

interface PartOfSequence {
  place: number;
  scored: number;
  viral: number;
}

/**
 * A run at work: its sequences are read in order and cut into parts of one round each, and the parts are
 * handed out as to real devices.
 */
export class SimulatedWork {
  private readonly sequences: readonly SimulatedSequence[];
  private readonly chunksPerPart: number;
  private readonly chunks: number;
  private readonly queue = new PartQueue();
  private readonly parts: PartOfSequence[][] = [];
  /** By section and round, the chunks that are not computed, and what is known of the others by size class. */
  private readonly rounds: { missing: number; known: Counts[] }[][];
  /** By round, the chunks that are in no part yet. */
  private readonly waiting: { chunks: number; own: PartOfSequence[] }[];
  private readonly first: number;
  private readonly strata = new Map<number, Stratum>();
  private readonly calls: Counts[];
  private readCount = 0;
  private firstRoundLeft = 0;
  private computed = 0;

  /** `average`: chunks of a file of the run, of which only this one is simulated; its own by default. */
  constructor(sequences: readonly SimulatedSequence[], chunksPerPart: number, average?: number) {
    this.sequences = sequences;
    this.chunksPerPart = chunksPerPart;
    const all = sequences.reduce((sum, { scores }) => sum + scores.length, 0);
    this.first = firstRound(average ?? all, 1);
    const rounds = 1 - Math.log2(this.first);
    this.rounds = Array.from({ length: SECTIONS }, () =>
      Array.from({ length: rounds }, () => ({
        missing: 0,
        known: SIZE_CLASSES.map(() => ({ scored: 0, viral: 0 })),
      })),
    );
    this.waiting = Array.from({ length: rounds }, () => ({ chunks: 0, own: [] }));
    this.calls = sequences.map(() => ({ scored: 0, viral: 0 }));
    this.chunks = sequences.reduce((sum, { scores }) => sum + openChunks(scores), 0);
    for (const [place, { scores }] of sequences.entries()) {
      const open = openChunks(scores);
      if (open > 0) addSequence(this.stratumOf(place), scores.length, open);
      for (const [turn, score] of scores.entries())
        if (score !== null) this.rounds[this.sectionOf(place)]![this.roundOf(place, turn)]!.missing += 1;
    }
  }

  /** Reads the sequences up to this share of them. */
  read(share = 1): void {
    const until = Math.round(share * this.sequences.length);
    for (; this.readCount < until; this.readCount++) this.cut(this.readCount);
    if (share < 1) return;
    for (const round of this.waiting.keys()) this.endPart(round);
  }

  /** Computes parts until this share of all chunks is computed, or all that were read. */
  compute(share: number): void {
    while (this.computed < share * this.chunks && this.computeNext());
  }

  computeFirstRound(): void {
    while (this.firstRoundLeft > 0) this.computeNext();
  }

  known(): Stratum[] {
    for (const [key, stratum] of this.strata) {
      const size = key % SIZE_CLASSES.length;
      stratum.even = { scored: 0, viral: 0 };
      for (const { missing, known } of this.rounds[Math.floor(key / SIZE_CLASSES.length)]!) {
        if (missing > 0) continue;
        stratum.even.scored += known[size]!.scored;
        stratum.even.viral += known[size]!.viral;
      }
    }
    return [...this.strata.values()];
  }

  private sectionOf(place: number): number {
    return Math.floor((place * SECTIONS) / this.sequences.length);
  }

  private roundOf(place: number, turn: number): number {
    const { scores, offset } = this.sequences[place]!;
    return Math.max(0, Math.floor(1 + Math.log2((turn + offset) / scores.length / this.first)));
  }

  private stratumOf(place: number): Stratum {
    const size = sizeClass(this.sequences[place]!.scores.length);
    const key = this.sectionOf(place) * SIZE_CLASSES.length + size;
    const stratum = this.strata.get(key) ?? emptyStratum(size);
    this.strata.set(key, stratum);
    return stratum;
  }

  private cut(place: number): void {
    for (const [turn, score] of this.sequences[place]!.scores.entries()) {
      if (score === null) continue;
      const round = this.roundOf(place, turn);
      const waiting = this.waiting[round]!;
      if (waiting.own.at(-1)?.place !== place) waiting.own.push({ place, scored: 0, viral: 0 });
      const own = waiting.own.at(-1)!;
      own.scored += 1;
      if (isViral(score)) own.viral += 1;
      waiting.chunks += 1;
      if (waiting.chunks >= this.chunksPerPart / (round === 0 ? 4 : 1)) this.endPart(round);
    }
  }

  private endPart(round: number): void {
    const { chunks, own } = this.waiting[round]!;
    if (chunks === 0) return;
    this.queue.add({ key: String(this.parts.length), residues: chunks, round, trial: firstTrial(false) });
    this.parts.push(own);
    if (round === 0) this.firstRoundLeft += 1;
    this.waiting[round] = { chunks: 0, own: [] };
  }

  private computeNext(): boolean {
    const part = this.queue.take('device');
    if (!part) return false;
    this.queue.settle(part.key);
    if (part.round === 0) this.firstRoundLeft -= 1;
    for (const { place, scored, viral } of this.parts[Number(part.key)]!) {
      const stratum = this.stratumOf(place);
      stratum.known.scored += scored;
      stratum.known.viral += viral;
      const round = this.rounds[this.sectionOf(place)]![part.round]!;
      round.missing -= scored;
      const known = round.known[stratum.sizeClass]!;
      known.scored += scored;
      known.viral += viral;
      const before = this.calls[place]!;
      addCalls(stratum, before, { scored, viral });
      this.calls[place] = { scored: before.scored + scored, viral: before.viral + viral };
      this.computed += scored;
    }
    return true;
  }
}

const openChunks = (scores: readonly (number | null)[]): number =>
  scores.reduce<number>((open, score) => (score === null ? open : open + 1), 0);
