import { expect, it } from 'vitest';
import { isSettled } from './settled.ts';
import { finalShare, KINDS, partlyScored, simulatedRun, strataAt } from './testing/simulatedRun.ts';
import { estimateShare } from './viralShare.ts';

const SEEDS = 1_000;
/** Whether calls stay is counted over sequences, of which fewer runs have plenty. */
const SETTLED_SEEDS = 60;
/** What an interval of 95 % is to cover. */
const BAND = { low: 0.93, high: 0.97 };
/** Where fewer viral chunks were met among what is computed of every file, coverage comes in steps, and may lie above the band. */
const FEW_CHUNKS = 10;
/** Standard errors that a figure of so many runs may lie beyond the band: of 100 that are on its edge, one would by chance alone. */
const ERRORS = 2.6;

/** Shares of the work; in the middle of a round the first 60 % of the sequences have it behind them, and while a file is read its front is
 * rounds ahead. */
const MOMENTS: Record<string, (place: number) => number> = {
  '1 %': () => 0.01,
  '5 %': () => 0.05,
  '25 %': () => 0.25,
  'mid-round': (place) => (place < 0.6 ? 1 / 16 : 1 / 32),
  'while reading': (place) => (place < 0.2 ? 1 / 2 : 1 / 256),
};

const percent = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`;

function coverage(kind: (typeof KINDS)[number], share: number, seeds: number, reads?: number): string[] {
  const moments = Object.entries(MOMENTS).map(([name, turnOf]) => ({
    name,
    turnOf,
    covered: 0,
    offered: 0,
    width: 0,
    viral: 0,
  }));
  for (let seed = 1; seed <= seeds; seed++) {
    const run = simulatedRun(kind, share, seed, reads);
    const final = finalShare(run);
    for (const moment of moments) {
      const strata = strataAt(run, moment.turnOf);
      const estimate = estimateShare(strata);
      if (estimate === null) continue;
      expect(estimate.high - estimate.low, 'zero width before the end').toBeGreaterThan(0);
      moment.offered += 1;
      moment.width += (estimate.high - estimate.low) / 2;
      const everywhere = strataAt(run, () => Math.min(moment.turnOf(0), moment.turnOf(1)));
      moment.viral += everywhere.reduce((sum, { viral }) => sum + viral, 0);
      if (estimate.low <= final && final <= estimate.high) moment.covered += 1;
    }
  }
  return moments.map(({ name, covered, offered, width, viral }) => {
    const row = [
      kind,
      reads ?? '',
      `${100 * share} %`,
      name,
      percent(covered, offered),
      `± ${percent(width, offered)}`,
      `${(viral / offered).toFixed(1)} viral chunks`,
    ].join(' | ');
    const error = (limit: number): number => ERRORS * Math.sqrt((limit * (1 - limit)) / offered);
    expect.soft(offered / seeds, `offered: ${row}`).toBeGreaterThan(0.98);
    expect.soft(covered / offered, `coverage: ${row}`).toBeGreaterThan(BAND.low - error(BAND.low));
    if (viral / offered >= FEW_CHUNKS)
      expect.soft(covered / offered, `coverage: ${row}`).toBeLessThan(BAND.high + error(BAND.high));
    return row;
  });
}

it('covers the final share as often as it says', { timeout: 3_600_000 }, () => {
  const table = KINDS.flatMap((kind) => [0.001, 0.03, 0.4].flatMap((share) => coverage(kind, share, SEEDS)));
  table.push(...coverage('reads', 0.001, SEEDS / 10, 100_000));
  process.stdout.write(`${table.join('\n')}\n`);
});

it('keeps the calls that are settled', { timeout: 3_600_000 }, () => {
  for (const kind of KINDS.filter((one) => one !== 'reads'))
    for (const share of [0, 0.001, 0.03, 0.4])
      for (const turn of [0.01, 0.05, 0.25]) {
        let [settled, turned] = [0, 0];
        for (let seed = 1; seed <= SETTLED_SEEDS; seed++)
          for (const sequence of simulatedRun(kind, share, seed)) {
            const known = partlyScored(sequence, turn);
            if (known.missingChunks === 0 || known.weight === 0 || !isSettled(known)) continue;
            settled += 1;
            if (known.weightedScore >= known.weight / 2 !== known.final >= 0.5) turned += 1;
          }
        expect
          .soft(turned, `${kind}, ${share}, ${turn}: of ${settled} settled calls`)
          .toBeLessThanOrEqual(0.01 * settled);
      }
});
