import { expect, it } from 'vitest';
import { isSettled } from './settled.ts';
import { finalShare, KINDS, partlyScored, simulatedRun, strataAt } from './testing/simulatedRun.ts';
import { estimateShare } from './viralShare.ts';

const SEEDS = 300;
const SHARES = [0, 0.001, 0.03, 0.4];
/** Shares of the work; the last is in the middle of a round, which the first 60 % of the sequences have behind them. */
const MOMENTS: Record<string, (place: number) => number> = {
  '1 %': () => 0.01,
  '5 %': () => 0.05,
  '25 %': () => 0.25,
  'mid-round': (place) => (place < 0.6 ? 1 / 16 : 1 / 32),
};

it('covers the final share as often as it says, and settled calls stay', { timeout: 3_600_000 }, () => {
  const table: string[] = [];
  for (const kind of KINDS) {
    for (const share of SHARES) {
      const moments = Object.entries(MOMENTS).map(([name, turnOf]) => ({
        name, turnOf, covered: 0, offered: 0, width: 0, settled: 0, turned: 0, partial: 0,
      })); // prettier-ignore
      for (let seed = 1; seed <= SEEDS; seed++) {
        const sequences = simulatedRun(kind, share, seed);
        const final = finalShare(sequences);
        for (const moment of moments) {
          for (const sequence of sequences) {
            const known = partlyScored(sequence, moment.turnOf(1));
            if (known.missingChunks === 0 || known.weight === 0) continue;
            moment.partial += 1;
            if (!isSettled(known)) continue;
            moment.settled += 1;
            if (known.weightedScore >= known.weight / 2 !== known.final >= 0.5) moment.turned += 1;
          }
          const estimate = estimateShare(strataAt(sequences, moment.turnOf));
          if (estimate === null) continue;
          expect(estimate.high - estimate.low, 'zero width before the end').toBeGreaterThan(0);
          moment.offered += 1;
          moment.width += (estimate.high - estimate.low) / 2;
          if (estimate.low <= final && final <= estimate.high) moment.covered += 1;
        }
      }
      for (const { name, covered, offered, width, settled, turned, partial } of moments) {
        const percent = (part: number, whole: number): string => (whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`);
        table.push(
          [kind, `${100 * share} %`, name, percent(covered, offered), `± ${percent(width, offered)}`, percent(settled, partial), percent(turned, settled)].join(' | '),
        );
        expect.soft(covered / offered, `coverage: ${table.at(-1)}`).toBeGreaterThan(0.9);
        expect.soft(turned, `turned: ${table.at(-1)}`).toBeLessThanOrEqual(0.01 * settled);
      }
    }
  }
  process.stdout.write(`${table.join('\n')}\n`);
}); // prettier-ignore
