import { expect, it } from 'vitest';
import { finalShare, KINDS, simulatedRun, SimulatedWork } from './testing/simulatedRun.ts';
import { estimateShare } from './viralShare.ts';

/** Simulated runs of each kind, as many as three minutes allow. */
const SEEDS = 200;
/** What an interval of 95 % is to cover. */
const BAND = { low: 0.93, high: 0.97 };
/** Where fewer viral chunks were met among what is computed of every file, coverage comes in steps, and may lie above the band. */
const FEW_CHUNKS = 10;
/** Standard errors that a figure of so many runs may lie beyond the band: of 100 that are on its edge, one would by chance alone. */
const ERRORS = 2.6;

/** Shares of the work; 75 % is in the middle of the last round. */
const SHARES = [0.01, 0.05, 0.25, 0.75];

/** Chunks of a part as GPUs and as processors get them. */
const PART_SIZES = { gpu: 1_000, cpu: 20 } as const;
/** The smallest run in this order. */
const FEWEST_PARTS = 16;

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`;
}

const viralIn = (work: SimulatedWork): number =>
  work.known().reduce((sum, { known }) => sum + known.viral, 0);

/** A file has just been read; of its first fifth half was computed before. */
function readingAhead(run: ReturnType<typeof simulatedRun>, perPart: number): SimulatedWork {
  const work = new SimulatedWork(run, perPart);
  work.read(0.2);
  work.compute(0.1);
  work.read();
  work.computeFirstRound();
  return work;
}

function coverage(
  kind: (typeof KINDS)[number],
  share: number,
  hardware: keyof typeof PART_SIZES,
  seeds: number,
  reads?: number,
): string[] {
  const moments = [...SHARES.map((one) => percent(one, 1)), 'while reading'].map((name) => ({
    name,
    covered: 0,
    offered: 0,
    width: 0,
    viral: 0,
  }));
  for (let seed = 1; seed <= seeds; seed++) {
    const run = simulatedRun(kind, share, seed, reads);
    const chunks = run.reduce((sum, { scores }) => sum + scores.length, 0);
    const perPart = Math.min(PART_SIZES[hardware], Math.ceil(chunks / FEWEST_PARTS));
    const work = new SimulatedWork(run, perPart);
    work.read();
    work.computeFirstRound();
    const everywhere = viralIn(work);
    const final = finalShare(run);
    for (const [place, moment] of moments.entries()) {
      const until = SHARES[place];
      if (until !== undefined) work.compute(until);
      const now = until === undefined ? readingAhead(run, perPart) : work;
      const estimate = estimateShare(now.known());
      if (estimate === null) continue;
      expect(estimate.high - estimate.low, 'zero width before the end').toBeGreaterThan(0);
      moment.offered += 1;
      moment.width += (estimate.high - estimate.low) / 2;
      moment.viral += until === undefined ? everywhere : viralIn(now);
      if (estimate.low <= final && final <= estimate.high) moment.covered += 1;
    }
  }
  return moments.map(({ name, covered, offered, width, viral }) => {
    const row = [
      kind,
      reads ?? '',
      hardware,
      `${100 * share} %`,
      name,
      percent(covered, offered),
      `± ${percent(width, offered)}`,
      `${(viral / offered).toFixed(1)} viral chunks`,
    ].join(' | ');
    const error = (limit: number): number => ERRORS * Math.sqrt((limit * (1 - limit)) / offered);
    expect.soft(offered / seeds, `offered: ${row}`).toBeGreaterThan(0.98);
    expect.soft(covered / offered, `coverage: ${row}`).toBeGreaterThan(BAND.low - error(BAND.low));
    // Sections of sorted reads are all of one kind, which the interval takes as chance.
    if (viral / offered >= FEW_CHUNKS && kind !== 'sorted reads')
      expect.soft(covered / offered, `coverage: ${row}`).toBeLessThan(BAND.high + error(BAND.high));
    return row;
  });
}

it('covers the final share as often as it says', { timeout: 3_600_000 }, () => {
  const table = (['gpu', 'cpu'] as const).flatMap((hardware) =>
    KINDS.flatMap((kind) => [0.001, 0.03, 0.4].flatMap((share) => coverage(kind, share, hardware, SEEDS))),
  );
  table.push(...coverage('reads', 0.001, 'gpu', SEEDS / 10, 100_000));
  process.stdout.write(`${table.join('\n')}\n`);
});
