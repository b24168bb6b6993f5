import { expect, it } from 'vitest';
import { finalShare, KINDS, simulatedRun, SimulatedWork } from './testing/simulatedRun.ts';
import { estimateShare } from './viralShare.ts';

/** Simulated runs of each kind. */
const SEEDS = Number(process.env['VIRNUCPRO_SIMULATED_RUNS'] ?? 200);
/** The constants of viralShare.ts were chosen with the seeds up to 300. */
const FIRST_SEED = 1_001;
/** What an interval of 95 % is to cover at least. */
const LEAST = 0.93;
/** Standard errors that a figure of so many runs may lie below: of 100 that are on the edge, one would by chance alone. */
const ERRORS = 2.3;

/** Shares of the work, from the end of the first round; 75 % is in the middle of the last. */
const SHARES = [0, 0.01, 0.05, 0.25, 0.75];
/** Of GPUs: processors compute only the first round until all is read. There is no estimate where too little of the rest is computed. */
const READING = 'while reading';

/** Chunks of a part as GPUs and as processors get them. */
const PART_SIZES = { gpu: 1_000, cpu: 20 } as const;
/** The smallest run in this order. */
const FEWEST_PARTS = 16;

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`;
}

/** A file has just been read; of its first fifth half was computed before. */
function readingAhead(work: SimulatedWork): SimulatedWork {
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
  { reads, timesSmaller = 1 }: { reads?: number; timesSmaller?: number } = {},
): string[] {
  const names = [...SHARES.map((one) => percent(one, 1)), ...(hardware === 'gpu' ? [READING] : [])];
  const moments = names.map((name) => ({
    name,
    covered: 0,
    offered: 0,
    width: 0,
  }));
  for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
    const run = simulatedRun(kind, share, seed, reads);
    const chunks = run.reduce((sum, { scores }) => sum + scores.length, 0);
    const perPart = Math.min(PART_SIZES[hardware], Math.ceil(chunks / FEWEST_PARTS));
    const begin = (): SimulatedWork => new SimulatedWork(run, perPart, timesSmaller * chunks);
    const work = begin();
    work.read();
    work.computeFirstRound();
    const final = finalShare(run);
    for (const [place, moment] of moments.entries()) {
      const until = SHARES[place];
      if (until !== undefined) work.compute(until);
      const now = until === undefined ? readingAhead(begin()) : work;
      const estimate = estimateShare(now.known());
      if (estimate === null) continue;
      expect(estimate.high - estimate.low, 'zero width before the end').toBeGreaterThan(0);
      moment.offered += 1;
      moment.width += (estimate.high - estimate.low) / 2;
      if (estimate.low <= final && final <= estimate.high) moment.covered += 1;
    }
  }
  return moments.map(({ name, covered, offered, width }) => {
    const row = [
      kind,
      reads ?? '',
      timesSmaller,
      hardware,
      `${100 * share} %`,
      name,
      percent(covered, offered),
      `± ${percent(width, offered)}`,
    ].join(' | ');
    if (timesSmaller === 1 && name !== READING)
      expect.soft(offered / seeds, `offered: ${row}`).toBeGreaterThan(0.95);
    const error = ERRORS * Math.sqrt((LEAST * (1 - LEAST)) / offered);
    if (offered > 0) expect.soft(covered / offered, `coverage: ${row}`).toBeGreaterThan(LEAST - error);
    return row;
  });
}

function show(table: readonly string[][]): void {
  process.stdout.write(`${table.flat().join('\n')}\n`);
}

it.each(['gpu', 'cpu'] as const)(
  'covers the final share as often as it says, with parts for a %s',
  { timeout: 7_200_000 },
  (hardware) => {
    for (const kind of KINDS) show([0.001, 0.03, 0.4].map((share) => coverage(kind, share, hardware, SEEDS)));
  },
);

it('covers it in a file of another size than the others of its run', { timeout: 3_600_000 }, () => {
  show([coverage('reads', 0.001, 'gpu', SEEDS / 10, { reads: 100_000 })]);
  // Of a file that is smaller than the others the first round has few chunks, or none.
  for (const kind of ['reads', 'read clumps', 'contigs', 'huge virus'] as const)
    show([0.03, 0.4].map((share) => coverage(kind, share, 'cpu', SEEDS, { timesSmaller: 8 })));
});
